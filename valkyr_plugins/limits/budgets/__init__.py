"""Budgets: what one may say, what is spent of them, who is told, refused or stopped."""
