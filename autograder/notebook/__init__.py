"""The student's side: checks in a notebook, the machine's judge, and the pieces of earlier labs."""
