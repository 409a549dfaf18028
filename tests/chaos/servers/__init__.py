"""Servers and clocks of our own, to be broken: what the faults are made with."""
