"""Publish drafts and code as versions; test runs of drafts; copies of workflows from code."""
