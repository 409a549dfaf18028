"""Optional parts of Valkyr: Django apps that import only the engine's public modules."""
