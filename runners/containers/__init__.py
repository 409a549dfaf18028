"""Loops, maps and sub-workflows: steps that wait for other steps."""
