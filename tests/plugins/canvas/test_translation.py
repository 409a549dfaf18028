"""A signature's shape determines one definition, and its arguments one input."""

from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from celery import Celery, chain, chord, group

from executions import configuration
from executions.messaging import broker_priority, celery_app
from executions.public.publishing import versioning
from valkyr_plugins.canvas.translation import UntranslatableError, translate
from valkyr_plugins.canvas.values import unpacked

app = Celery("translation", set_as_current=False)


@app.task(name="t.add")
def add(x: int, y: int) -> int:
    return x + y


@app.task(name="t.total")
def total(numbers: list[int]) -> int:
    return sum(numbers)


def drawn(signature: Any) -> list[tuple[str, list[str]]]:
    """Return each task's arguments, and its predecessors."""
    return [
        (t["with"]["args"], t.get("after", [])) for t in translate(signature).definition["tasks"]
    ]


ONE = "input.calls[0].args"
CANVASES = [
    ("task", add.s(1, 2), [(ONE, [])]),
    (
        "chain",
        chain(add.s(1, 2), add.s(3)),
        [(ONE, []), ("[tasks.add.output.result] + input.calls[1].args", ["add"])],
    ),
    ("immutable", chain(add.s(1, 2), add.si(3, 4)), [(ONE, []), ("input.calls[1].args", ["add"])]),
    ("group", group(add.s(1, 2), add.s(3, 4)), [(ONE, []), ("input.calls[1].args", [])]),
    (
        "chord",
        chord([add.s(1, 2), add.s(3, 4)], total.s()),
        [
            (ONE, []),
            ("input.calls[1].args", []),
            (
                "[[tasks.add.output.result, tasks.add_2.output.result]] + input.calls[2].args",
                ["add", "add_2"],
            ),
        ],
    ),
    (
        "chain into a group",
        chain(add.s(1, 2), group(add.s(3), add.s(4))),
        [
            (ONE, []),
            ("[tasks.add.output.result] + input.calls[1].args", ["add"]),
            ("[tasks.add.output.result] + input.calls[2].args", ["add"]),
        ],
    ),
    (
        "group of one in a chain",
        chain(add.s(1, 2), group([add.s(3)])),
        [(ONE, []), ("[tasks.add.output.result] + input.calls[1].args", ["add"])],
    ),
    ("chord without a header", chord([], total.s()), [("[[]] + input.calls[0].args", [])]),
]


@pytest.mark.parametrize(
    ("signature", "expected"), [c[1:] for c in CANVASES], ids=[c[0] for c in CANVASES]
)
def test_a_canvas_becomes_steps_with_what_they_get_and_come_after(
    signature: Any, expected: list[tuple[str, list[str]]]
) -> None:
    assert drawn(signature) == [(f"{{{{ {args} }}}}", after) for args, after in expected]


def test_a_group_comes_to_a_list_in_order() -> None:
    output = translate(group(add.s(1, 2), add.s(3, 4))).definition["output"]

    assert output == {"result": "{{ [tasks.add.output.result, tasks.add_2.output.result] }}"}


def test_calls_of_one_shape_share_a_definition_and_differ_in_input() -> None:
    first, second = translate(chain(add.s(1, 2), add.s(3))), translate(chain(add.s(4, 5), add.s(6)))

    assert first.definition == second.definition
    assert first.slug == second.slug
    assert second.payload["calls"][1] == {"args": [6], "kwargs": {}}


def step(signature: Any) -> dict[str, Any]:
    """Return the definition's first task."""
    found: dict[str, Any] = translate(signature).definition["tasks"][0]
    return found


@pytest.mark.parametrize(
    ("names", "ids"),
    [
        (["shop.tasks.add", "bank.tasks.add", "add"], ["add", "add_2", "add_3"]),
        (["shop.add_2", "shop.add", "shop.add"], ["add_2", "add", "add_3"]),
        (["shop.add", "shop.add", "shop.add_2"], ["add", "add_2", "add_2_2"]),
        (["shop.resize-image", "shop.2nd", "shop.ä", "shop.__"],
         ["resize_image", "task_2nd", "task", "task_2"]),
        (["a." + "x" * 300, "b." + "x" * 300], ["x" * 80, "x" * 80 + "_2"]),
        (["shop.items", "shop.if"], ["items", "if"]),
    ],
)  # fmt: skip
def test_steps_bear_the_short_names_of_their_tasks(names: list[str], ids: list[str]) -> None:
    found = translate(chain(app.signature(name) for name in names)).definition

    assert [task["id"] for task in found["tasks"]] == ids
    assert versioning.check(dict(found)) == []


def test_times_are_input_and_limits_are_shape() -> None:
    signature = add.s(1, 2).set(countdown=5, expires=60, time_limit=30, soft_time_limit=20)
    found = translate(signature)

    wait, main = found.definition["tasks"][0]["modules"]
    assert wait["with"] == {"seconds": "{{ input.calls[0].countdown }}"}
    assert main["with"]["expires"] == "{{ input.calls[0].expires }}"
    assert (main["with"]["softTimeLimit"], main["timeoutSeconds"]) == (20, 30.0)
    assert found.payload["calls"][0] == {
        "args": [1, 2], "kwargs": {}, "countdown": 5.0, "expires": 60.0,
    }  # fmt: skip


def test_a_time_out_is_not_tried_again() -> None:
    assert step(add.s(1, 2))["retry"]["timeouts"] is False


def test_a_queue_of_the_projects_own_is_the_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VALKYR_CELERY_QUEUES", "letters")
    configuration.forget()

    assert step(add.s(1, 2).set(queue="letters"))["queue"] == "letters"
    assert "queue" not in step(add.s(1, 2).set(queue=celery_app().conf.task_default_queue))
    configuration.forget()


def test_an_error_callback_is_shape_and_its_arguments_are_input() -> None:
    found = translate(chain(add.s(1, 2), add.s(3)).on_error(total.s("who")))

    errbacks = [task["with"]["errbacks"][0] for task in found.definition["tasks"]]
    assert [one["task"] for one in errbacks] == ["t.total", "t.total"]
    assert errbacks[1]["args"] == "{{ input.calls[1].errbacks[0].args }}"
    assert found.payload["calls"][0]["errbacks"] == [{"args": ["who"], "kwargs": {}}]


def test_a_priority_is_the_executions() -> None:
    found = translate(chain(add.s(1, 2).set(priority=3), add.s(3).set(priority=1)))

    assert found.priority == max(broker_priority(3), broker_priority(1))
    assert translate(add.s(1, 2)).priority is None


def test_an_ignored_result_is_passed_on_and_not_shown() -> None:
    found = translate(chain(add.s(1, 2), add.s(3).set(ignore_result=True)))

    assert found.definition["output"] == {"result": "{{ none }}"}


def test_dates_and_other_values_of_celerys_json_are_kept() -> None:
    given = [date(2026, 1, 2), UUID(int=1), Decimal("1.5"), b"raw"]

    assert unpacked(translate(add.s(*given)).payload["calls"][0]["args"]) == given


def test_a_map_keeps_its_expiry_its_priority_and_what_is_linked() -> None:
    mapped = add.map([1, 2]).set(expires=60, priority=3)
    mapped.link(total.s())

    found = translate(mapped)

    first, second = found.definition["tasks"]
    assert "calls[0].expires" in str(first["body"])
    assert found.payload["calls"][0]["expires"] == 60
    assert found.priority == broker_priority(3)
    assert second["after"] == [first["id"]]


@pytest.mark.parametrize(
    ("signature", "says"),
    [
        (add.map([1]).set(countdown=3), "cannot have a countdown"),
        (chain(add.map([1]), total.s()).on_error(total.s()), "or a link_error"),
        (add.s(1, object()), "is not valid JSON"),
        (add.s(1, float("nan")), "is not valid JSON"),
        (add.s(1, 2).set(countdown=-5), "'countdown'"),
        (add.s(1, 2).set(eta="tomorrow"), "'eta'"),
        (add.s(1, 2).set(expires=object()), "'expires'"),
        (add.s(1, 2).set(priority=11), "'priority'"),
        (add.s(1, 2).set(time_limit=3600), "'time_limit'"),
        (add.s(1, 2).set(queue="letters"), r"VALKYR\['CELERY_QUEUES'\]"),
        (add.s(1, 2).set(exchange="direct"), "'exchange'"),
        (add.s(1, 2).set(headers={"a": 1}), "'headers'"),
        (add.s(1, 2).on_error(chain(add.s(), add.s())), "error callback"),
        (chord([add.s(1, 2)], total.s(), kwargs={"a": 1}), "its own arguments"),
        (group([]), "no task"),
        ("t.add", "found str"),
    ],
)
def test_what_has_no_durable_form_is_refused_by_name(signature: Any, says: str) -> None:
    with pytest.raises(UntranslatableError, match=says):
        translate(signature)
