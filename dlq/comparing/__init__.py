"""Compare two JSON values by path, and select the run with which to compare a failed step."""
