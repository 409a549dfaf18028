"""`make soak`: everything at once for long, and whether anything grows that should not."""
