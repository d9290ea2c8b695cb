"""Correct answers to lab 14d in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""
