"""The instructor's side: a class repository is given out, submissions are collected and graded, and marks recorded and explained.

`plugin` has the steps through which nbgrader runs a submission.
"""
