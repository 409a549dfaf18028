"""One running project for all tests of a file's session; they only read or add rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.projects.people.seed_words import PASSWORD
from tests.support.own_project import OwnProject


@dataclass
class Running:
    """A running project, the ids of its rows, and its administrator's token."""

    project: OwnProject
    ids: dict[str, str]
    token: str

    def sign_in(self, name: str) -> httpx.Response:
        return httpx.post(
            f"{self.project.address}/v1/auth/token",
            json={"username": name, "password": PASSWORD}, timeout=120,
        )  # fmt: skip

    def ask(self, method: str, path: str, *, token: str = "", **options: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {token or self.token}", **options.pop("headers", {})}
        address = f"{self.project.address}{path}"
        return httpx.request(method, address, headers=headers, timeout=120, **options)


def _up(project: OwnProject, *databases: str, others: tuple[str, ...] = ()) -> Iterator[Running]:
    with project.databases(*others):
        ids = project.seed(*databases)
        with project.web():
            running = Running(project, ids, "")
            running.token = running.sign_in("ada@example.org").raise_for_status().json()["access"]
            yield running


@pytest.fixture(scope="session", name="people")
def _people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    yield from _up(OwnProject("people", tmp_path_factory.mktemp("people")), "default")


@pytest.fixture(scope="module", name="second")
def _second(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    yield from _up(OwnProject("second", tmp_path_factory.mktemp("second")), "workflows")


@pytest.fixture(scope="module", name="twin")
def _twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    yield from _up(OwnProject("twin", tmp_path_factory.mktemp("twin")), "default")


@pytest.fixture(scope="module", name="apart")
def _apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    project = OwnProject("apart", tmp_path_factory.mktemp("apart"))
    flows = f"{project.database}_flows"
    project.environment = {**project.environment, "WORKFLOWS_DATABASE_URL": project.url(flows)}
    yield from _up(project, "default", "workflows", others=(flows,))
