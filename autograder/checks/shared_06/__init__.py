"""Shared by the checks of custom operators and backends, on torch itself.

A program shows what it saw: numbers, schemas, names of keys, the calls in a captured graph, how often something was compiled,
and which calls the exercise does not allow. It does not say whether a result is right. (`judges` also shows what torch's own
testers say, beside the numbers that these looked at.) Whatever a program registers goes into a namespace of its own, a new one
for each case.
"""
