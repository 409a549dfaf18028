"""Compare two JSON values, and select the run with which to compare a failed step."""
