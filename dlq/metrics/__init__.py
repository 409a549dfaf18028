"""What `/metrics` reads from the database, and what this app counts."""
