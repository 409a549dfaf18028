"""Repairs of failed steps (rerun, skip or record a result), and the permissions for them."""
