"""A user's whole tasks in the studio, on a whole stack."""
