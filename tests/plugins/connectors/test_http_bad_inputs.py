"""Tests of the rows of bad inputs that need a badly behaved server."""

from collections.abc import Iterator

import pytest

from runners.modules.base import Bad
from runners.modules.declared import declared
from runners.segment.step_context import Context
from tests.support.bad_inputs import check_row, rows
from tests.support.counterparts.http import BadServer, bad_server

FAMILY = [
    name
    for name, path in declared().items()
    if path.startswith(
        ("valkyr_plugins.connectors.network.", "valkyr_plugins.connectors.messages.")
    )
]


@pytest.fixture(scope="module")
def server() -> Iterator[BadServer]:
    with bad_server() as server:
        yield server


@pytest.mark.parametrize(("module_type", "bad"), rows(needs="http", types=FAMILY))
def test_a_bad_answer_ends_as_the_table_says(
    module_type: str,
    bad: Bad,
    server: BadServer,
    step_context: Context,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "127.0.0.0/8")

    check_row(module_type, bad, step_context, server.url)
