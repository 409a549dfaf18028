"""Live states of executions, pushed to who watches; costs nothing while nobody does."""
