"""The platform behind a proxy that removes `/site` from each path: answers include it again."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect

from tests.contract.people import a_member, a_workspace
from tests.support.rates import forget_rates
from tests.support.signed_in import bearer
from tests.support.web import web_process
from tests.support.workflows import publish, start, task

pytestmark = pytest.mark.django_db(transaction=True)


def test_addresses_and_the_socket_are_where_the_proxy_has_them(
    tmp_path: Path, settings: Any
) -> None:
    forget_rates()
    a_workspace()
    headers = {"Authorization": bearer(a_member("ADMIN"))}
    workflow = publish({"name": "Watched", "tasks": [task("a")]})
    execution = start(workflow)

    with web_process(tmp_path / "web.log", script_name="/site") as address:
        made = httpx.post(
            f"{address}/v1/Workflow", json={"name": "second"}, headers=headers, timeout=120
        )
        page = httpx.get(f"{address}/studio/", timeout=120)
        watched = f"{address}/v1/vaiworkflow/subscribe/{workflow.pk}".replace("http", "ws", 1)
        with connect(watched, additional_headers=headers, open_timeout=30) as socket:
            told = json.loads(socket.recv(timeout=60))

    assert made.headers["Location"] == f"/site/v1/Workflow/{made.json()['id']}"
    assert page.headers["Location"] == "/site/admin/login/?next=/site/studio/"
    assert str(execution) in json.dumps(told)
