"""Convert workflows exported from n8n into definitions, with a report on each node.

The conversion is pure: it makes a definition and a report from an export. `conversion.convert` is
the entry point. A node without an equivalent becomes a placeholder, which stores the node's data
and blocks publishing.
"""
