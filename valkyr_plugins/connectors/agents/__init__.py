"""Agents: a model that calls tools in a loop, the loop's steps, and tools of MCP servers."""
