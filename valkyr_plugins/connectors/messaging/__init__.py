"""Publish messages: events of the workspace, and messages to queues of brokers."""
