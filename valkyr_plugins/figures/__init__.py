"""Hourly counts of ended executions, and the charts, pages and endpoint that read them."""
