"""Checkpoints, roll-backs, forks, replays and verification of executions."""
