"""Modules that use HTTP; they connect only to addresses that an administrator allows."""
