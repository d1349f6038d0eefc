"""A class graded into a gradebook."""
