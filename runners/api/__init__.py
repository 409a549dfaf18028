"""The HTTP API of this app."""
