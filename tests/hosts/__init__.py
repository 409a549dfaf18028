"""Valkyr's wheel in other projects: their processes, their prefix, their database."""
