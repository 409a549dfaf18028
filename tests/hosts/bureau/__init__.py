"""A project with its own conventions, as its owner wrote it; see `test_bureau.py`."""
