"""Tests of the modules that call other systems and transform data."""
