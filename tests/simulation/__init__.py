"""A seeded simulation of the engine: who takes the turn is drawn at each SQL statement."""
