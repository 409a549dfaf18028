"""Targets of steps: which rule holds for a host or a model, and the defaults. Pure."""
