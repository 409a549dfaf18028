"""Steps that meet badly behaved servers end, each by itself; the worker goes on with others."""

from collections.abc import Iterator

import pytest

from executions.models import WorkflowExecution
from runners.models import Run
from tests.support.auditor import audit
from tests.support.counterparts.http import BadServer, bad_server
from tests.support.fleet import Fleet
from tests.support.workflows import publish, start, task, wait_for_end

ENDS = {
    "silent": "TIMEOUT",
    "slow-headers": "TIMEOUT",
    "drip-body": "TIMEOUT",
    "endless": "PERMANENT",
    "header-flood": "TRANSIENT",
    "long-length": "TRANSIENT",
    "chunked-nonsense": "TRANSIENT",
    "gzip-bomb": "PERMANENT",
    "circle": "PERMANENT",
    "away?to=http://169.254.169.254/latest/": "PERMANENT",
    "brotli": "PERMANENT",
    "reset": "TRANSIENT",
}


@pytest.fixture
def server() -> Iterator[BadServer]:
    with bad_server() as server:
        yield server


@pytest.mark.timeout(300)
def test_a_dozen_bad_servers_fail_a_step_each_and_a_good_one_succeeds(
    fleet: Fleet, server: BadServer
) -> None:
    worker = fleet["io"].pid
    calls = [
        task(
            f"call{number}",
            "http.request",
            retry="none",
            **{"with": {"url": f"{server.url}/{path}", "timeoutSeconds": 2, "maxBytes": 100_000}},
        )
        for number, path in enumerate(ENDS)
    ]
    # In one execution, so that they run side by side; one failure stops none of the others.
    bad = start(publish({"tasks": calls}))
    state = wait_for_end([bad])[bad]
    good = start(
        publish(
            {"tasks": [task("call", "http.request", **{"with": {"url": f"{server.url}/good"}})]}
        )
    )

    assert state == "FAILED"
    assert wait_for_end([good])[good] == "SUCCESS"
    found = dict(Run.objects.filter(execution_id=bad).values_list("step_path", "error_type"))
    assert found == {f"call{n}.main": kind for n, kind in enumerate(ENDS.values())}
    assert WorkflowExecution.objects.get(pk=good).state == "SUCCESS"
    assert fleet["io"].alive()
    assert fleet["io"].pid == worker
    audit([bad, good])
