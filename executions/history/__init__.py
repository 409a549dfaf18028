"""The past of an execution: checkpoints, points to go back to, and what going back restores."""
