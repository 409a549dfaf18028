"""Facts about the rows of `seed` that tests can read without the project's settings."""

PASSWORD = "correct horse battery"
