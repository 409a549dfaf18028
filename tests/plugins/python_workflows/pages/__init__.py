"""The code of the pages on workflows in Python, run as printed."""
