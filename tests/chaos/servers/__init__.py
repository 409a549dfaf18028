"""Servers and clocks for faults."""
