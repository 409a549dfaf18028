"""Tests of the engine with a partitioned runs' table."""
