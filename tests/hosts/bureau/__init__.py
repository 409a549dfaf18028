"""A project that is used to its own ways, as its owner has it; see `test_bureau.py`."""
