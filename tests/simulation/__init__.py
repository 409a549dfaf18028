"""A seeded simulation of the engine: at each SQL statement, the seed decides which actor runs."""
