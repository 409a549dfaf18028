"""The pure parts of `make up`."""
