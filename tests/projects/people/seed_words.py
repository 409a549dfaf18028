"""What tests know of the rows that `seed` makes, without the project's settings."""

PASSWORD = "correct horse battery"
