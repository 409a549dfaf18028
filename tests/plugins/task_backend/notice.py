"""A module that must not be imported, which a test checks."""

raise AssertionError("nobody may import this")
