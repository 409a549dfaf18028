"""pytest's fixtures of the kit; `valkyr_project.pytest_plugin` brings them."""

from typing import Any

import pytest

from runners.testing.harness import Valkyr


@pytest.fixture
def valkyr(db: Any) -> Valkyr:
    """Publish, start and carry workflows in a database that is as it was after each test."""
    return Valkyr()
