"""Convert workflows exported from n8n into definitions, with a report on each node.

The package is pure: it converts a JSON value into a definition and a report. `conversion.convert`
is the entry point. A node without an equivalent becomes a placeholder, which stores the node's data
and blocks publishing.
"""
