"""Exams from each student's own code: drawn, taken in a browser or on paper, and marked by running."""
