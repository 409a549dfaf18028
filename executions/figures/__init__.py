"""Figures of executions over time: pure parts, and whose executions are counted."""
