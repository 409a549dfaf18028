"""Nobody imports this: a test sees that."""

raise AssertionError("nobody may import this")
