"""Naming the mistake: by wrong models, and by evidence."""
