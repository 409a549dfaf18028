"""Steps of our own for Valkyr."""
