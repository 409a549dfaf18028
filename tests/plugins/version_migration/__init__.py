"""Tests of the plugin `version_migration`."""
