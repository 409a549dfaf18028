"""Modules that ask and change PostgreSQL databases, with bound parameters only."""
