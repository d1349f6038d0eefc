"""The frozen types that pass between the modules of the grader.

One file a noun. Nothing here runs anything: the types are read and written by
`msgspec`, and every field that can come from an untrusted process is bounded.
"""
