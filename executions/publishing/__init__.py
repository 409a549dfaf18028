"""Drafts become versions, and test runs of drafts."""
