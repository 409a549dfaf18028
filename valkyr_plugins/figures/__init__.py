"""Hourly counts of executions, and the charts, pages and endpoint that read them."""
