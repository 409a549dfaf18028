"""Alerts: who is told of what goes wrong, once, and whether the message arrived."""
