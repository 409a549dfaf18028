"""Durable canvases on real workers."""
