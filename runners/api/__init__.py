"""The HTTP API of the app `runners`."""
