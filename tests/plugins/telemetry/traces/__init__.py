"""Traces and log lines of a real fleet and a real web process."""
