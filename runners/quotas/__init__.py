"""Quotas on what steps do: the gate that holds one back, and who goes on when a place is free."""
