"""A folder for PYTHONPATH: what Python reads at its start under libfaketime."""
