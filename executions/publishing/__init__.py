"""Publish drafts and code as versions, run drafts as tests, and copy workflows from code."""
