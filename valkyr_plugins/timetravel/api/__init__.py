"""Checkpoints, roll-backs, forks and replays over HTTP."""
