"""Tests that run the code on the pages about workflows in Python as printed."""
