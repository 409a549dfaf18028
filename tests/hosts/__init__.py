"""Valkyr's wheel in projects that are not ours: their processes, their prefix, their database."""
