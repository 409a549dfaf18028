"""Modules that use HTTP; they connect only to public addresses and to allowed ranges."""
