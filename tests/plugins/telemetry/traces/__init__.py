"""Tests of traces and log lines of real workers and a real web process."""
