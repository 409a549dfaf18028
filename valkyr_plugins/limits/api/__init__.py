"""The API of quotas, budgets and costs."""
