"""The interpreter worker: kernels on the CPU, every access looked up, checked and counted."""
