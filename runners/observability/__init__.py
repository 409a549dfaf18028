"""The logs and traces of a worker about the runs it executes."""
