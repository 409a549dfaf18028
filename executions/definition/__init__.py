"""Workflow definitions: their graph, templates and schemas, how they are published and compiled."""
