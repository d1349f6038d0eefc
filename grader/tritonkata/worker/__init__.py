"""Code that runs inside the sandbox, beside the submission. Nothing here is trusted once a submission is loaded."""
