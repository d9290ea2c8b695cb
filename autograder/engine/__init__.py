"""Runs the checks of a subject, a student's code in the framework, and decides each against real torch."""
