"""Optional parts of Valkyr. Each is a Django app that imports the engine's public modules only."""
