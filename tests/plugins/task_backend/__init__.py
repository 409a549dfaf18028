"""Tests of the plugin `task_backend`."""
