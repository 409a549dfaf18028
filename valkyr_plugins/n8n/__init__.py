"""Convert workflows exported from n8n into definitions, with a report on each node.

The package is pure: it converts a JSON value into a definition and a report. `conversion.convert`
is the entry point. A node without an equivalent becomes a placeholder, which keeps its data and
blocks publishing.
"""
