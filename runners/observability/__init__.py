"""A worker's logs, metrics and traces of the runs that it executes."""
