"""Tests of optional parts, one folder per plugin."""
