"""Tests of agents and MCP tools."""
