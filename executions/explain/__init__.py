"""Why an execution is not running, or not over: the part that its own row and its line tell."""
