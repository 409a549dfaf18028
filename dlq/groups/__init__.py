"""Failure groups: which failures are equal, how often they occur, and their triage."""
