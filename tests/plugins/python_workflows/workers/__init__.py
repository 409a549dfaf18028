"""Tests of workflows in Python on real workers."""
