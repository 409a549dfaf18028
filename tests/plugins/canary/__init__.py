"""Tests of the plugin `canary`."""
