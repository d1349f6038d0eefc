"""Processes that grade side by side."""
