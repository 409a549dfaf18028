"""Workflows exported from n8n become definitions, with a report of what became of each node.

Pure: a JSON value comes in, a definition and a report go out. `conversion.convert` is the door.
What cannot be said in a definition stays as a placeholder, which keeps it and blocks publishing.
"""
