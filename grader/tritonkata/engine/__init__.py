"""Running a submission: on a GPU through its launch plan, or in the interpreter."""
