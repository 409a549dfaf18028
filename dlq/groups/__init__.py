"""Failure groups: equal failures with their frequency, and their triage."""
