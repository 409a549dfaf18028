"""How a dead run becomes a dead letter, and which failures are equal."""
