"""Publish events in the workspace, and messages to queues of other systems."""
