"""Publish messages: events in the workspace, and messages to brokers' queues."""
