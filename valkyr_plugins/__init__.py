"""Optional parts of Valkyr: Django apps that use the engine only through its public modules."""
