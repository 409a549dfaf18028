"""Tests of durable canvases on real workers."""
