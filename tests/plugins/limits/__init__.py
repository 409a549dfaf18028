"""Tests of quotas and budgets."""
