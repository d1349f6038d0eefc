"""Traffic from hardware counters: CUPTI in this process, Nsight Compute in one of its own."""
