"""A worker: its registration, the check that it still takes messages, its shutdown."""
