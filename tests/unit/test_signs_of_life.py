"""Signs of life: how the check reads the files of workers and beats."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from runners.process import signs_of_life

Age = Callable[[float], None]


@pytest.fixture(autouse=True)
def signs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VALKYR_HEALTH_DIR", str(tmp_path / "signs"))
    monkeypatch.delenv("VALKYR_HEALTH_SECONDS", raising=False)
    return tmp_path / "signs"


@pytest.fixture
def age(signs: Path) -> Age:
    """Return a function that makes this process's sign of life older, by a number of seconds."""

    def make(seconds: float) -> None:
        path = signs / f"worker-{os.getpid()}.json"
        said = json.loads(path.read_text())
        path.write_text(json.dumps(said | {"at": said["at"] - seconds}))

    return make


def test_a_sign_holds_for_a_minute(age: Age) -> None:
    signs_of_life.give("worker", "io@here", "consuming", ("io",))
    age(50)
    assert signs_of_life.check("worker")[0]

    age(11)
    well, sentence = signs_of_life.check("worker")

    assert not well
    assert "io@here" in sentence
    assert "expected a report within 60 s" in sentence


def test_a_worker_that_looks_for_its_broker_has_longer(age: Age) -> None:
    signs_of_life.give("worker", "io@here", "without a broker", ("io",), grace=600)
    age(650)
    assert signs_of_life.check("worker")[0]

    age(20)
    assert not signs_of_life.check("worker")[0]


def test_workers_of_other_queues_are_no_answer() -> None:
    signs_of_life.give("worker", "io@here", "consuming", ("io",))

    assert signs_of_life.check("worker", "io")[0]
    assert not signs_of_life.check("worker", "default")[0]
    assert not signs_of_life.check("beat")[0]


def test_what_is_no_sign_is_passed_over(signs: Path) -> None:
    signs_of_life.give("worker", "io@here", "consuming", ("io",))
    (signs / "worker-1.json").write_text("{")
    (signs / "worker-2.json").write_text("[]")

    assert signs_of_life.check("worker")[0]


def test_a_sign_that_was_taken_back_is_gone() -> None:
    signs_of_life.give("beat", "beat of here", "ticking")
    signs_of_life.take_back("beat")

    assert "No beat has reported" in signs_of_life.check("beat")[1]
