"""An MCP server, through which agents read data and propose changes.

By default, a user must approve each change. `endpoint.py` receives a request, `transport.py` passes
it to the official SDK, and `server.py` answers with the tools in `tools/`. `in_process.py` calls
the API's own operations, so that the same permissions, limits and masks apply as in the API. Only
`proposals.py` writes the states of proposals.
"""
