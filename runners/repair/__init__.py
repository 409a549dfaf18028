"""Repairs of failed steps by users (rerun, skip or record a result), and their permissions."""
