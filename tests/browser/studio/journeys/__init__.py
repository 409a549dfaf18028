"""Whole tasks of a user in the studio, on a whole stack."""
