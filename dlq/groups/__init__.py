"""Failure groups: failures with the same fingerprint, their counts, and their triage."""
