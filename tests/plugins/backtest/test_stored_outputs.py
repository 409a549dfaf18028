"""Templates read recorded outputs from the payload store, and equal outputs compare as equal."""

from pathlib import Path
from typing import Any

import pytest

from executions.definition.graph.document import load_text
from executions.payload_store import PayloadStoreUnavailable, files
from executions.payloads import STORED
from runners.models import Run
from runners.testing.harness import Valkyr
from tests.support.payload_store import use_store
from valkyr_plugins.backtest import working
from valkyr_plugins.backtest.models import Backtest

from .comparing import compared, texts

TEXT = "x" * 20_000
READS = """
schema: valkyr/1
name: reads
tasks:
  - {id: fetch, use: http.request, with: {url: "https://bank.example/"}}
  - {id: copy, use: flow.noop, after: fetch, with: {value: "{{ tasks.fetch.output.body }}"}}
  - id: each
    use: flow.map
    after: copy
    with: {items: "{{ input.lines }}"}
    body:
      tasks:
        - id: send
          use: http.request
          with: {url: "https://bank.example/{{ tasks.fetch.output.body.id[:3] }}/{{ item }}"}
  - {id: last, use: flow.noop, after: each, with: {value: 1}}
output: "{{ tasks.fetch.output.body.id | length }} {{ tasks.last.output }}"
"""


@pytest.fixture
def store(settings: Any, tmp_path: Path) -> Path:
    return use_store(settings, tmp_path)


@pytest.fixture
def run(transactional_db: None, store: Path) -> Any:
    """Run an execution whose first two outputs are in the payload store."""

    def answer(inputs: Any, context: Any) -> dict[str, Any]:
        body = {"id": TEXT if inputs.url.endswith("/") else "small"}
        return {
            "status": 200, "headers": {}, "body": body, "bodyEncoding": "json", "url": "u",
            "durationMs": 1,
        }  # fmt: skip

    found = Valkyr().start(READS, {"lines": ["a", "b", "c"]}, answers={"http.request": answer})
    found.assert_state("SUCCESS")
    stored = Run.objects.filter(step_path__in=["fetch.main", "copy.main"])
    assert all(STORED in row.outputs for row in stored)
    return found


def test_stored_outputs_are_read_and_compared(run: Any) -> None:
    made = compared(run)

    assert (made.state, made.counts) == ("DONE", {"SAME": 1}), (made.error, texts(made))
    assert made.by_step["each.send.main"] == {"SAME": 3}


def test_a_stored_value_is_loaded_once_for_all_steps_that_read_it(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded, read = list[str](), files.read
    monkeypatch.setattr(files, "read", lambda name: loaded.append(name) or read(name))

    compared(run)

    assert len(loaded) == len(set(loaded)) == 1


def test_another_value_in_place_of_a_stored_one_is_shown_by_its_beginning(run: Any) -> None:
    draft = load_text(READS, content_type="yaml")
    draft["tasks"][1]["with"]["value"] = {"id": "short"}

    made = compared(run, draft)

    assert made.by_step["copy.main"] == {"DIFFERENT_OUTPUT": 1}
    (group,) = [one for one in made.groups["groups"] if one["stepPath"] == "copy.main"]
    (change,) = group["sample"]
    assert change["now"] == {"value": {"id": "short"}} or change["now"] == {"id": "short"}
    assert STORED not in str(change["recorded"])


def test_an_execution_whose_stored_value_is_gone_cannot_be_compared(run: Any, store: Path) -> None:
    for path in store.rglob("*"):
        if path.is_file():
            path.unlink()

    made = compared(run)

    assert (made.state, made.counts) == ("DONE", {"NOT_COMPARABLE": 1}), texts(made)
    assert made.groups["groups"][0]["reason"] == "RESULT_MISSING"


def test_a_backtest_waits_for_a_store_that_does_not_answer(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(name: str) -> bytes:
        raise PayloadStoreUnavailable("The store does not answer.")

    with monkeypatch.context() as patched:
        patched.setattr(files, "read", away)
        with pytest.raises(PayloadStoreUnavailable):
            compared(run)
    made = Backtest.objects.get()
    assert (made.state, made.done) == ("RUNNING", 0)
    Backtest.objects.filter(pk=made.pk).update(leased_until=made.created_at)

    working.work(made.pk)

    made.refresh_from_db()
    assert (made.state, made.counts) == ("DONE", {"SAME": 1})
