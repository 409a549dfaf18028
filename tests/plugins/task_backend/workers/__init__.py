"""Tasks on real workers."""
