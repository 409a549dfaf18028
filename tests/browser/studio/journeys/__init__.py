"""A user's complete tasks in the studio, on a whole stack."""
