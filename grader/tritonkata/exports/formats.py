"""The names of the formats, which a command must know before it imports what writes them."""

CLASS = ("junit", "canvas", "moodle", "csv", "csv-checks", "jsonl")
"""Written as one file."""

STUDENT = ("gradescope", "classroom50", "prairielearn")
"""Written as one JSON file for each student."""

SHEETS = ("canvas", "moodle")
"""Can fill in a sheet that the platform gave."""
