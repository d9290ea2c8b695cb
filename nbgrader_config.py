from autograder.classroom.plugin import configure

configure(get_config())  # noqa: F821 (nbgrader defines it)
