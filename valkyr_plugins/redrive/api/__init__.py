"""Redrives over HTTP."""
