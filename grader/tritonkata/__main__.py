"""`python -m tritonkata` is `kata`."""

import contextlib
import os
import sys

# `-m` puts the working directory first on the path, where a learner's file
# named like a library would be imported in its place.
with contextlib.suppress(OSError):  # the directory was removed, so there is nothing in it to import
    if not sys.flags.safe_path and sys.path and sys.path[0] in ("", os.getcwd()):
        del sys.path[0]

from tritonkata.cli import main

if __name__ == "__main__":
    sys.exit(main())
