"""Quotas, budgets and costs over HTTP."""
