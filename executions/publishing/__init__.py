"""Drafts and code become versions; test runs of drafts; copies of what code publishes."""
