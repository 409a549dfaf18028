"""Failure groups: which failures are one, how often they happen, and what people say of them."""
