"""Steps that call badly behaved servers end, one by one; the worker continues with others."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

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
def servers() -> Iterator[list[BadServer]]:
    """Run one server per fault and a good one: together they would open the circuit of a single
    target.
    """
    with ExitStack() as stack:
        yield [stack.enter_context(bad_server()) for _ in range(len(ENDS) + 1)]


def test_a_dozen_bad_servers_fail_a_step_each_and_a_good_one_succeeds(
    fleet: Fleet, servers: list[BadServer]
) -> None:
    worker = fleet["io"].pid
    calls = [
        task(
            f"call{number}",
            "http.request",
            retry="none",
            **{
                "with": {
                    "url": f"{server.url}/{path}",
                    "timeoutSeconds": 2 if ENDS[path] == "TIMEOUT" else 30,
                    "maxBytes": 100_000,
                }
            },
        )
        for number, (server, path) in enumerate(zip(servers, ENDS, strict=False))
    ]
    # In one execution, so that they run in parallel; one failure stops none of the others.
    bad = start(publish({"tasks": calls}))
    state = wait_for_end([bad])[bad]
    call = task("call", "http.request", **{"with": {"url": f"{servers[-1].url}/good"}})
    good = start(publish({"tasks": [call]}))

    assert state == "FAILED"
    assert wait_for_end([good])[good] == "SUCCESS"
    found = dict(Run.objects.filter(execution_id=bad).values_list("step_path", "error_type"))
    assert found == {f"call{n}.main": kind for n, kind in enumerate(ENDS.values())}
    assert fleet["io"].alive()
    assert fleet["io"].pid == worker
    audit([bad, good])
