"""Modules that pack files and unpack untrusted archives."""
