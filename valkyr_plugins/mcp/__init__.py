"""An MCP server for agents. They can read, and propose changes, which users approve by default.

`endpoint.py` receives a request, `transport.py` passes it to the official SDK, `server.py` answers
with `tools/`. `in_process.py` calls the API's own operations, so that the same permissions, limits
and masks apply as in the API. Only `proposals.py` writes the states of proposals.
"""
