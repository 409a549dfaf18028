"""Which executions may begin now: capacity, concurrency keys, request rates; what an end frees."""
