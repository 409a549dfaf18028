"""A folder for PYTHONPATH: a Python under libfaketime reads it when it starts."""
