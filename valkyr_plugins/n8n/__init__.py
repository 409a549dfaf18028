"""Convert workflows exported from n8n into definitions, with a report on each node.

Pure: a JSON value comes in, a definition and a report go out. `conversion.convert` is the entry
point. A node without an equivalent becomes a placeholder, which keeps its data and blocks
publishing.
"""
