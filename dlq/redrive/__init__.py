"""Redrives: many dead letters sent home at a pace, each once, whatever dies in between."""
