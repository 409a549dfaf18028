"""Tests of the plugin `figures`."""
