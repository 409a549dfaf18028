"""A project with accounts of its own, Django's own admin, and beat's own pages."""
