"""One SQLite file that holds a class: submissions, every report whole, and what an instructor decided."""
