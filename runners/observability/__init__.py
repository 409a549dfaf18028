"""What a worker logs and traces of what it runs."""
