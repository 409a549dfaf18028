"""Why an execution is not running or has not ended, from its own row and its queue position."""
