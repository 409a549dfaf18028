"""Quotas and budgets: limits on what a workspace or a member may start, run and spend."""
