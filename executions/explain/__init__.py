"""Explain why an execution is not running or has not ended, from its row and queue position."""
