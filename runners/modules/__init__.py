"""The contract and registry of step modules, and the engine's modules, which use no tables."""
