"""Tests of what is optional, a folder a plugin."""
