"""Quotas and budgets: how much a workspace, or one of its members, may start, run and spend."""
