"""A workspace, users in each role, and clients that act for them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from executions.models import Tier, Workspace
from tests.support.rates import forget_rates

from .people import a_client, a_greeting, a_member, a_workspace, an_author


@pytest.fixture(autouse=True)
def _nobody_asked_before() -> None:
    forget_rates()


@pytest.fixture(autouse=True)
def _no_collected_files(settings: Any, tmp_path: Path) -> None:
    settings.STATIC_ROOT = tmp_path
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = settings.STORAGES | {"staticfiles": plain}


@pytest.fixture(autouse=True)
def _quick_passwords(settings: Any) -> None:
    """Use a fast password hash: a slow one would take longer than the test, and access is the
    same.
    """
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def workspace(db: None) -> Workspace:
    return a_workspace()


@pytest.fixture
def tier(workspace: Workspace) -> Tier:
    return workspace.tier


@pytest.fixture
def elsewhere(db: None) -> Workspace:
    return a_workspace("elsewhere")


@pytest.fixture
def member(workspace: Workspace) -> Callable[..., Any]:
    """Return a function that creates a user with a role in a workspace (by default in the default
    one).
    """
    return a_member


@pytest.fixture
def client_of() -> Callable[[Any], APIClient]:
    """Return a function that returns a client signed in as a user."""
    return a_client


@pytest.fixture
def author(workspace: Workspace) -> APIClient:
    """Return a client of a user who may write, publish and operate workflows."""
    return an_author()


@pytest.fixture
def admin(workspace: Workspace) -> APIClient:
    return a_client(a_member("ADMIN"))


@pytest.fixture
def stranger() -> APIClient:
    """Return an anonymous client."""
    return APIClient()


@pytest.fixture
def greeting(author: APIClient) -> dict[str, Any]:
    """Publish a workflow; return it as the API shows it."""
    return a_greeting(author)
