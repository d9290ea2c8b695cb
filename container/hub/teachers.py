# ruff: noqa: F821
from autograder.classroom.plugin import configure

c = get_config()
configure(c)
c.Exchange.root = "/srv/exchange"
