"""Compare two JSON values by path, and select the run to compare a failed step with."""
