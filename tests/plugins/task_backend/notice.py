"""A module that must not be imported: a test checks that."""

raise AssertionError("nobody may import this")
