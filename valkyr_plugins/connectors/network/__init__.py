"""Modules that speak HTTP; their connections go only where an admin allows them to go."""
