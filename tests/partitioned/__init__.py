"""Tests of the engine with the runs' table partitioned."""
