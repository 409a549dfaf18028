"""Workflows in Python on real workers."""
