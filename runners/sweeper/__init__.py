"""Whatever should be moving and is not is set moving again: one duty a file."""
