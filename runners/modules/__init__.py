"""The modules of steps, one family per file; no module uses tables or the broker."""
