"""Fixtures for tests of modules."""

from tests.support.code_fixtures import code_module, code_sandbox, fail_code, run_code
from tests.support.module_fixtures import make_context, partner, step_context

__all__ = [
    "code_module",
    "code_sandbox",
    "fail_code",
    "make_context",
    "partner",
    "run_code",
    "step_context",
]
