"""What platforms run: an autograder for Gradescope, one for Classroom 50, and a workflow for GitHub Actions.

Each of them calls `kata check` in a process of its own and hands its report to an exporter.
"""
