"""Repairs of failed steps by users (rerun, skip, record a result), and their permissions."""
