"""Explain why an execution is not running or has not ended, by its row and queue position."""
