"""Tests of the plugin `python_workflows`."""
