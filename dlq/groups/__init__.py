"""Failure groups: failures with one fingerprint, their counts, and their triage."""
