"""Shared by the checks of labs 02a and 02b."""
