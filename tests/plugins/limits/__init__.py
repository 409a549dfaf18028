"""Quotas and budgets."""
