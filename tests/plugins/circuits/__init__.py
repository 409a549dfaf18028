"""Tests of the plugin `circuits`."""
