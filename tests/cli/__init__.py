"""The command `valkyr`, against a server with real workers and in a project's own process."""
