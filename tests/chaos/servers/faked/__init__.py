"""A folder for PYTHONPATH: Python reads it at its start under libfaketime."""
