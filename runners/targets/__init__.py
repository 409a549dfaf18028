"""Targets of steps: the rule for a host or a model, and the defaults. This module is pure."""
