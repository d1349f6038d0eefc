"""Submissions of like structure: where to look, and no verdict."""
