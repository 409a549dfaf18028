"""Rows to messages: what is packed together, and what the broker is sent."""
