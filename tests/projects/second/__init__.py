"""The project of `people` with our tables, and its accounts, on a second alias.

Nothing answers at `default`, so every query there fails.
"""
