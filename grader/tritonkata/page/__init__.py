"""The report of a class as one HTML file that asks for nothing else."""
