"""What an instructor's commands do: submissions are collected and graded, and marks recorded, explained, and given out.

The parts on which it stands are beside this package: the checks and the judge, the sandbox, the builder of notebooks, and the
plugin through which nbgrader runs submissions.
"""
