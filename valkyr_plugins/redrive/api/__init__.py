"""The API of redrives."""
