"""What is known of an execution while one of its segments runs: its state, its rows, its lock."""
