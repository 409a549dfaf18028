"""The contract and registry of step modules, and the engine's own modules without tables or broker."""
