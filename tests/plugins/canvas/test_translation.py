"""A signature means one definition by its shape, and one input by its arguments."""

from typing import Any

import pytest
from celery import Celery, chain, chord, group

from valkyr_plugins.canvas.translation import UntranslatableError, translate

app = Celery("translation", set_as_current=False)


@app.task(name="t.add")
def add(x: int, y: int) -> int:
    return x + y


@app.task(name="t.total")
def total(numbers: list[int]) -> int:
    return sum(numbers)


def drawn(signature: Any) -> list[tuple[str, list[str]]]:
    """Each task's arguments, and what it comes after."""
    return [
        (t["with"]["args"], t.get("after", [])) for t in translate(signature).definition["tasks"]
    ]


ONE = "input.calls[0].args"
CANVASES = [
    ("task", add.s(1, 2), [(ONE, [])]),
    (
        "chain",
        chain(add.s(1, 2), add.s(3)),
        [(ONE, []), ("[tasks.t0.output.result] + input.calls[1].args", ["t0"])],
    ),
    ("immutable", chain(add.s(1, 2), add.si(3, 4)), [(ONE, []), ("input.calls[1].args", ["t0"])]),
    ("group", group(add.s(1, 2), add.s(3, 4)), [(ONE, []), ("input.calls[1].args", [])]),
    (
        "chord",
        chord([add.s(1, 2), add.s(3, 4)], total.s()),
        [
            (ONE, []),
            ("input.calls[1].args", []),
            (
                "[[tasks.t0.output.result, tasks.t1.output.result]] + input.calls[2].args",
                ["t0", "t1"],
            ),
        ],
    ),
    (
        "chain into a group",
        chain(add.s(1, 2), group(add.s(3), add.s(4))),
        [
            (ONE, []),
            ("[tasks.t0.output.result] + input.calls[1].args", ["t0"]),
            ("[tasks.t0.output.result] + input.calls[2].args", ["t0"]),
        ],
    ),
    (
        "group of one in a chain",
        chain(add.s(1, 2), group([add.s(3)])),
        [(ONE, []), ("[tasks.t0.output.result] + input.calls[1].args", ["t0"])],
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

    assert output == {"result": "{{ [tasks.t0.output.result, tasks.t1.output.result] }}"}


def test_calls_of_one_shape_share_a_definition_and_differ_in_input() -> None:
    first, second = translate(chain(add.s(1, 2), add.s(3))), translate(chain(add.s(4, 5), add.s(6)))

    assert first.definition == second.definition
    assert first.slug == second.slug
    assert second.payload["calls"][1] == {"args": [6], "kwargs": {}}


@pytest.mark.parametrize(
    ("signature", "says"),
    [
        (add.map([1]), "celery.map"),
        (add.starmap([(1, 2)]), "celery.starmap"),
        (add.chunks([(1, 2)], 1), "cannot be durable"),
        (add.s(1, object()), "is no JSON"),
        (add.s(1, float("nan")), "is no JSON"),
        (add.s(1, 2).set(countdown=5), "'countdown'"),
        (add.s(1, 2).set(queue="images"), "'queue'"),
        (add.s(1, 2).on_error(add.s()), "'link_error'"),
        (group([]), "no task"),
        ("t.add", "found str"),
    ],
)
def test_what_has_no_durable_form_is_refused_by_name(signature: Any, says: str) -> None:
    with pytest.raises(UntranslatableError, match=says):
        translate(signature)
