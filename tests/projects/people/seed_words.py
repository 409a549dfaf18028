"""What tests know of the rows of `seed`, without the project's settings."""

PASSWORD = "correct horse battery"
