"""With row-level security, a defect in the application's filters shows no other workspace.

The defect: the application treats a member of one workspace as a member of all. Each readable URL
of the API and of the admin is requested with the ids of another workspace's rows.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings
from django.contrib import admin
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver

from executions.access import powers, row_security
from executions.database.row_scope import limited
from executions.models import Membership, Workspace
from runners.models import Runner
from tests.support.signed_in import bearer
from tests.support.two_workspaces import planted

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
ROLES = ("ADMIN", "WORKFLOW", "USER", "SYSTEM")
ID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Live states are read for all viewers together, without the policies.
LIVE = "subscribe"


@pytest.fixture(scope="module", autouse=True)
def world(kept_world: None, row_level_security: None) -> SimpleNamespace:
    here, boss, _ = planted("here")
    _, _, foreign = planted("there")
    return SimpleNamespace(here=here, boss=boss, foreign=foreign)


@pytest.fixture(autouse=True)
def defect(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every user every role in every workspace, in the application."""
    true = powers.holdings

    def everywhere(user: Any) -> Any:
        members, grants = true(user)
        held = next(iter(members.values()))
        with limited(None):
            every = list(Workspace.objects.values_list("pk", flat=True))
        return dict.fromkeys(every, held), grants

    monkeypatch.setattr(powers, "holdings", everywhere)


def api_addresses() -> list[str]:
    """Return the paths of reading operations, with {} for parameters."""
    text = (Path(settings.BASE_DIR) / "docs/reference/openapi.json").read_text()
    paths = json.loads(text)["paths"]
    return [
        re.sub(r"{\w+}", "{}", path)
        for path, operations in paths.items()
        if "get" in operations and LIVE not in path
    ]


def admin_addresses() -> list[str]:
    """Return the paths of all pages of the admin, with {} for parameters."""

    def under(patterns: Any, prefix: str) -> Iterator[str]:
        for pattern in patterns:
            path = prefix + re.sub(r"<[^>]+>", "{}", str(pattern.pattern))
            if isinstance(pattern, URLResolver):
                yield from under(pattern.url_patterns, path)
            elif isinstance(pattern, URLPattern):
                yield path

    found = under(admin.site.urls[0], "/admin/")
    return sorted(
        {path for path in found if "logout" not in path and not re.search(r"[\\^(]", path)}
    )


def asked(addresses: list[str], ids: dict[str, str], of_every_model: bool) -> Iterator[str]:
    """Yield each path with ids as parameters: those of a page's own model, or else of each
    model (of one model, unless `of_every_model`).
    """
    for address in addresses:
        if "{}" not in address:
            yield address
            continue
        own = [one for one in ids if f"/{ids[one].lower().replace('.', '/')}/" in address]
        for one in own or (ids if of_every_model else list(ids)[:1]):
            yield address.replace("{}", one)


def shown(
    client: Client,
    addresses: list[str],
    foreign: dict[str, str],
    headers: dict[str, Any],
    *,
    of_every_model: bool,
) -> set[str]:
    """Return the tables whose rows of another workspace were shown, and the paths."""
    found = set()
    for address in asked(addresses, foreign, of_every_model):
        client.cookies.pop("messages", None)  # the last answer's value for the requested id
        with transaction.atomic():  # an error of PostgreSQL would end the test's own transaction
            answer: Any = client.get(address, **headers)
            content = b"".join(answer.streaming_content) if answer.streaming else answer.content
            transaction.set_rollback(True)
        # The trail of each workspace records an export: the database rejects another's.
        assert answer.status_code < 500 or "export" in address, (address, answer.status_code)
        if answer.status_code != 200:
            continue
        theirs = {foreign[one.decode()] for one in ID.findall(content) if one.decode() in foreign}
        found |= {f"{address}: {table}" for table in theirs}
    return found


def ids_of(world: SimpleNamespace) -> dict[str, str]:
    """Return an id of each table of the other workspace with its table, without shared rows."""
    shared = set(Runner.objects.filter(workspace=None).values_list("pk", flat=True))
    return {
        str(pk): model._meta.label
        for model, pks in world.foreign.items()
        for pk in sorted(pks - shared, key=str)[:1]
        if ID.fullmatch(str(pk).encode())
    }


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("part", ["API", "admin"])
def test_a_forgotten_filter_shows_no_row_of_another_workspace(
    world: SimpleNamespace, role: str, part: str
) -> None:
    Membership.objects.filter(user=world.boss).update(role=role)
    client, headers, addresses = _caller(world, part)
    # The policies do not depend on the role, and an administrator reaches all pages of the others.
    thorough = role == "ADMIN"
    assert shown(client, addresses, ids_of(world), headers, of_every_model=thorough) == set()


@pytest.mark.parametrize("part", ["API", "admin"])
def test_without_row_level_security_the_same_defect_shows_them(
    world: SimpleNamespace, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_security, "scope_of", lambda user: None)
    client, headers, addresses = _caller(world, part)
    found = shown(client, addresses, ids_of(world), headers, of_every_model=False)
    assert len({one.partition(": ")[2] for one in found}) > 10, found


def _caller(world: SimpleNamespace, part: str) -> tuple[Client, dict[str, Any], list[str]]:
    client = Client(SERVER_NAME="localhost", raise_request_exception=False)
    if part == "API":
        return client, {"HTTP_AUTHORIZATION": bearer(world.boss)}, api_addresses()
    client.force_login(world.boss)
    return client, {}, admin_addresses()
