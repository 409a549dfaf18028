"""Targets of steps: the rule for each host or model, and the defaults. This module is pure."""
