"""The rules of a definition beyond its shape, one subject per file; each yields problems."""
