"""Timers, approvals, events, signals and callbacks: what waiting steps wait for."""
