"""The command line of each process, and what must not start in production."""
