"""From grading records to what a platform, a spreadsheet or a student reads.

Every format is made from records alone, and none of them tells the secret seed of a run.
"""
