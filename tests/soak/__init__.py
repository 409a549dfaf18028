"""`make soak`: everything at once for a long time, and whether anything grows that should not."""
