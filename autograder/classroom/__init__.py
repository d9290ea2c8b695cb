"""The instructor's side: labs are released, submissions are collected and graded, and marks recorded and explained.

`plugin` has the steps through which nbgrader runs a submission.
"""
