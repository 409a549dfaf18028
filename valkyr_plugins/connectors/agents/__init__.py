"""Agents: a model that calls tools in a loop, the steps of the loop, and tools of MCP servers."""
