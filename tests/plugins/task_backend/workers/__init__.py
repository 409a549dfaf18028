"""Tests of tasks on real workers."""
