"""Tests of the plugin `canvas`."""
