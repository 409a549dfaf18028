"""The command line of each process, and the checks of the settings before a production start."""
