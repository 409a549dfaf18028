"""How a dead run becomes a dead letter, and when two failures are the same."""
