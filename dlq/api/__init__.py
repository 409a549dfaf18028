"""HTTP doors of this app."""
