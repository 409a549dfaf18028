"""Repairs of failed steps by users, and the permissions: rerun, skip, record a result."""
