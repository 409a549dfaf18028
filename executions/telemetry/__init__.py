"""Traces: whether they are on, the spans, and where they are sent."""
