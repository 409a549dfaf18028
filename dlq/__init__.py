"""A dead run becomes a dead letter and, mended, goes home."""
