"""The API of checkpoints, roll-backs, forks and replays."""
