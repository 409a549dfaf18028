"""Workflow definitions: their graph, templates and schemas, and how they are compiled."""
