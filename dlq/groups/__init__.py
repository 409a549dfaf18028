"""Failure groups: groups of equal failures, their frequency, and their triage."""
