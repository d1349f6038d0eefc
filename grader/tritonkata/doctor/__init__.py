"""What works on this machine: GPU, driver, counters, libraries, sandbox, each with the fix."""
