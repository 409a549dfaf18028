"""A dead run becomes a dead letter, once."""
