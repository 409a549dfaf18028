"""Fixtures for tests of modules."""

from tests.support.module_fixtures import make_context, partner, step_context

__all__ = ["make_context", "partner", "step_context"]
