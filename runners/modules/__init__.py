"""The modules of steps: one family per file; none of them uses tables or the broker."""
