# ruff: noqa: F821
c = get_config()
c.CourseDirectory.course_id = "rushlight"
c.Exchange.root = "/srv/exchange"
