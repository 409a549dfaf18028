"""Modules that query and change PostgreSQL databases, with bound parameters only."""
