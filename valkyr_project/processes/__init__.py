"""The command line of each process, and the checks before a start in production."""
