"""The project of `people` with Valkyr's tables, and its accounts, on a second alias.

There is no database at `default`, so every query there fails.
"""
