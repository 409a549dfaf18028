"""What executions and runs did over time and do now: counted, kept by the hour, read back."""
