"""Rows are grouped, sorted and deduplicated; JMESPath stays within its bounds."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.modules import registry
from runners.modules.base import StepError
from valkyr_plugins.connectors.data.jmespath_query import compiled
from valkyr_plugins.connectors.data.rows import getter

ORDERS = [
    {"id": 1, "country": "DE", "total": "0.10", "customer": {"name": "Ann"}},
    {"id": 2, "country": "FR", "total": 20, "customer": {"name": "Bob"}},
    {"id": 3, "country": "DE", "total": "0.20", "customer": {"name": "Ann"}},
    {"id": 4, "country": "DE", "total": None, "customer": None},
    {"id": 5, "country": "DE", "total": "", "customer": {}},
]


def run(type_name, context, **config):
    return registry.get(type_name).run(config, context).outputs


def aggregate(context, **config):
    return run("data.aggregate", context, **config)["groups"]


def test_rows_are_grouped_and_everything_worked_out(step_context):
    of = {"field": "total"}
    compute = {
        "orders": {"function": "count"},
        "paid": {"function": "count", **of},
        "sum": {"function": "sum", **of},
        "avg": {"function": "avg", **of},
        "least": {"function": "min", **of},
        "most": {"function": "max", **of},
        "first": {"function": "first", "field": "id"},
        "last": {"function": "last", "field": "id"},
        "names": {"function": "collect", "field": "customer.name"},
        "people": {"function": "distinct", "field": "customer.name"},
    }

    assert aggregate(step_context, rows=ORDERS, groupBy="country", compute=compute) == [
        {
            "country": "DE", "orders": 4, "paid": 2, "sum": 0.3, "avg": 0.15, "least": 0.1,
            "most": 0.2, "first": 1, "last": 5, "names": ["Ann", "Ann"], "people": 1,
        },
        {
            "country": "FR", "orders": 1, "paid": 1, "sum": 20, "avg": 20, "least": 20,
            "most": 20, "first": 2, "last": 2, "names": ["Bob"], "people": 1,
        },
    ]  # fmt: skip


def test_without_fields_all_rows_are_one_group_even_none(step_context):
    compute = {
        "n": {"function": "count"},
        "sum": {"function": "sum", "field": "a"},
        "avg": {"function": "avg", "field": "a"},
        "max": {"function": "max", "field": "a"},
        "all": {"function": "collect"},
    }

    assert aggregate(step_context, rows=[], compute=compute) == [
        {"n": 0, "sum": 0, "avg": None, "max": None, "all": []}
    ]


def test_groups_can_have_names_and_expressions(step_context):
    by = {"who": "customer.name", "even": "id == `2`"}

    found = aggregate(
        step_context, rows=ORDERS[:3], groupBy=by, compute={"n": {"function": "count"}}
    )

    assert found == [
        {"who": "Ann", "even": False, "n": 2},
        {"who": "Bob", "even": True, "n": 1},
    ]


def test_values_of_different_kinds_are_different_groups(step_context):
    rows = [{"a": value} for value in (1, "1", True, None, [1], {"b": 1}, 1.0, {"b": 1})]

    found = aggregate(step_context, rows=rows, groupBy="a", compute={"n": {"function": "count"}})

    assert [group["n"] for group in found] == [2, 1, 1, 1, 1, 2]


money = st.decimals(-(10**9), 10**9, places=2)


@given(st.lists(money, max_size=50), st.integers(1, 10))
def test_a_sum_of_batches_sums_is_the_sum_to_the_cent(amounts, size):
    module = registry.get("data.aggregate")
    compute = {"total": {"function": "sum", "field": "total"}}

    def total(rows):
        return module.run({"rows": rows, "compute": compute}, None).outputs["groups"][0]

    rows = [{"total": str(amount)} for amount in amounts]
    batches = [total(rows[start : start + size]) for start in range(0, len(rows), size)]

    assert total(batches) == total(rows)
    assert Decimal(str(total(rows)["total"])) == sum(amounts)


def test_duplicates_are_left_out_by_field(step_context):
    rows = [{"id": 1, "mail": "A@x"}, {"id": 2, "mail": "b@x"}, {"id": 3, "mail": "a@x"}]

    exactly = run("data.deduplicate", step_context, rows=rows, by="mail")
    loosely = run("data.deduplicate", step_context, rows=rows, by=["mail"], ignoreCase=True)
    last = run("data.deduplicate", step_context, rows=rows, by="mail", ignoreCase=True, keep="last")

    assert (exactly["count"], exactly["dropped"]) == (3, 0)
    assert ([row["id"] for row in loosely["rows"]], loosely["dropped"]) == ([1, 2], 1)
    assert [row["id"] for row in last["rows"]] == [2, 3]


def test_whole_rows_are_compared_unless_fields_are_given(step_context):
    rows = [{"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": "1", "b": 2}, 3, 3, "3"]

    found = run("data.deduplicate", step_context, rows=rows)

    assert found["rows"] == [{"a": 1, "b": 2}, {"a": "1", "b": 2}, 3, "3"]


def test_case_is_ignored_in_whole_rows_as_in_fields(step_context):
    rows = [{"name": "\u00c4RA"}, {"name": "\u00e4ra"}, {"name": "ara"}]

    whole = run("data.deduplicate", step_context, rows=rows, ignoreCase=True)
    by_field = run("data.deduplicate", step_context, rows=rows, by="name", ignoreCase=True)

    assert whole["rows"] == by_field["rows"] == [rows[0], rows[2]]


@pytest.mark.parametrize("around", [lambda n: n, lambda n: [n], lambda n: {"a": [{"b": n}]}])
def test_a_number_equals_its_other_spelling_wherever_it_is(step_context, around):
    numbers = [1, 1.0, True, "1", 1.5, 0, -0.0, False, None, 10**16, 1e16, 10**16 + 1]

    found = run("data.deduplicate", step_context, rows=[around(n) for n in numbers])

    kept = [1, True, "1", 1.5, 0, False, None, 10**16, 10**16 + 1]
    assert list(map(repr, found["rows"])) == [repr(around(n)) for n in kept]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "1", "a"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=4,
)


@given(st.lists(json_values, max_size=12))
def test_as_many_rows_stay_as_there_are_different_ones(rows):
    found = registry.get("data.deduplicate").run({"rows": rows}, None).outputs

    assert found["count"] + found["dropped"] == len(rows)
    assert found["count"] == len({json.dumps(row, sort_keys=True) for row in rows})


def test_numbers_in_texts_are_sorted_as_numbers_and_gaps_come_last(step_context):
    rows = [{"n": value} for value in ("10", None, "9", 2.5, "-1")]

    up = run("data.sort", step_context, rows=rows, by=["n"])["rows"]
    down = run("data.sort", step_context, rows=rows, by=[{"field": "n", "order": "descending"}])

    assert [row["n"] for row in up] == ["-1", 2.5, "9", "10", None]
    assert [row["n"] for row in down["rows"]] == ["10", "9", 2.5, "-1", None]


def test_the_first_field_decides_and_equal_rows_keep_their_order(step_context):
    by = [{"field": "country", "order": "descending"}, {"field": "total", "as": "number"}]
    rows = [row for row in ORDERS if row["total"]]

    found = run("data.sort", step_context, rows=rows, by=by, limit=2)

    assert [row["id"] for row in found["rows"]] == [2, 1]


def test_texts_are_sorted_as_texts(step_context):
    rows = [{"at": "2026-11-02"}, {"at": "2026-01-30"}]

    assert run("data.sort", step_context, rows=rows, by=["at"])["rows"][0]["at"] == "2026-01-30"


@given(
    st.sampled_from(["a", "a.b", "b", "_x1", "a.b.c"]),
    st.recursive(
        st.none() | st.integers() | st.text(max_size=2),
        lambda inner: (
            st.dictionaries(st.sampled_from(["a", "b", "c", "_x1"]), inner)
            | st.lists(inner, max_size=2)
        ),
        max_leaves=8,
    ),
)
def test_a_path_means_what_jmespath_means_by_it(field, row):
    assert getter(field)(row) == compiled(field)(row)


@pytest.mark.parametrize(
    "expression",
    ["sort_by(@, &a)[].a", "[?a > `1`].{b: a}", "join(',', [].to_string(a))", "length(@)", "@[::2]",
     "*.a", "[*].a | [0]", "max_by(@, &a).a", "group", "[].[a, a][]"],
)  # fmt: skip
def test_bounded_jmespath_gives_what_jmespath_gives(expression):
    import jmespath

    data = [{"a": 3}, {"a": 1}, {"a": 2}]

    assert compiled(expression)(data) == jmespath.search(expression, data)


@pytest.mark.parametrize("expression", ["sort(@)", "max(@)", "sum(@)", "abs(@)"])
def test_an_expression_that_does_not_fit_is_named(expression):
    with pytest.raises(StepError, match="does not fit the data"):
        compiled(expression)([[1], "a", None])


def test_a_regular_expression_that_backtracking_never_ends_is_matched_at_once(step_context):
    config = {"data": "a" * 200 + "!", "schema": {"pattern": "^(a+)+$"}}

    with pytest.raises(StepError, match="does not match"):
        registry.get("data.validate").run(config, step_context)
