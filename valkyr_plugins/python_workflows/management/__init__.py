"""Commands of workflows in Python."""
