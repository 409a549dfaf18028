import pytest

from executions.definition.graph.document import DefinitionError, load_text, normalise


def refused(text, content_type="application/yaml"):
    with pytest.raises(DefinitionError) as caught:
        load_text(text, content_type=content_type)
    return [problem.code for problem in caught.value.problems]


def test_on_is_a_key_and_only_true_and_false_are_booleans():
    text = "on: true\noff: no\nyes: Y\nTRUE: FALSE"

    assert load_text(text, content_type="yaml") == {
        "on": True,
        "off": "no",
        "yes": "Y",
        "TRUE": False,
    }


def test_dates_times_and_grouped_digits_stay_text():
    text = "date: 2026-11-20\ntime: 12:30:00\nat: 2026-11-20T10:00:00Z\ngrouped: 1_000"

    assert load_text(text, content_type="yaml") == {
        "date": "2026-11-20",
        "time": "12:30:00",
        "at": "2026-11-20T10:00:00Z",
        "grouped": "1_000",
    }


def test_yaml_and_json_of_the_same_document_are_equal():
    yaml_text = "a: [1, 2.5, -3e2, 0x1f, null, ~, 'x']\nb: &b {c: d}\ne: *b"
    json_text = '{"a": [1, 2.5, -300.0, 31, null, null, "x"], "b": {"c": "d"}, "e": {"c": "d"}}'

    assert load_text(yaml_text, content_type="yaml") == load_text(json_text, content_type="json")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a: 1\na: 2", "duplicate_key"),
        ("a: &a [*a]", "syntax"),
        ("a: " + "[" * 100_000, "too_deep"),
        ("a: !!python/object/apply:os.system [ls]", "syntax"),
        ("a: !!binary aGk=", "syntax"),
        ("- 1", "type"),
        ("", "type"),
        ("a: [1", "syntax"),
        ("a: 1\n---\nb: 2", "syntax"),
        ('a: "\\0"', "value"),
        ("a: .inf", "value"),
        ("a: 1e999", "value"),
        ("a: " + "9" * 5000, "value"),
        ("? [a]\n: 1", "syntax"),
        ("a: *nothing", "syntax"),
        ("a: " + "x" * 1_100_000, "too_large"),
    ],
)
def test_yaml_that_is_no_plain_document_is_refused(text, code):
    assert refused(text) == [code]


def test_an_alias_bomb_is_refused_before_it_explodes():
    lines = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]

    assert refused("\n".join(["a0: &a0 [1,1,1,1,1,1,1,1,1,1]", *lines])) == ["too_many_values"]


def nested(levels, inner):
    return "[" * levels + inner + "]" * levels


def test_aliases_do_not_nest_deeper_than_what_is_written_out():
    # Each line is shallow, and each is nested in the next one.
    lines = [f"k{n}: &a{n} {nested(60, f'*a{n - 1}')}" for n in range(1, 100)]

    assert refused("\n".join([f"k0: &a0 {nested(60, '1')}", *lines])) == ["too_deep"]


def test_aliases_may_nest_as_deep_as_what_is_written_out():
    # The object around is a level, too.
    fits = f"a: &a {nested(30, '1')}\nb: {nested(33, '*a')}"

    assert load_text(fits, content_type="yaml")["b"] != []
    assert refused(fits.replace("b: ", "b: [").rstrip() + "]") == ["too_deep"]


@pytest.mark.parametrize(
    "text",
    [
        "a: {<<: {b: 1}, c: 2}",
        "base: &base {b: 1}\na:\n  <<: *base\n  c: 2",
    ],
)
def test_a_merge_key_is_a_key_like_any_other(text):
    # Merging is not of YAML 1.2: two readers of one definition must not see two workflows.
    assert load_text(text, content_type="yaml")["a"] == {"<<": {"b": 1}, "c": 2}


@pytest.mark.parametrize(
    "text", ["a: !!timestamp 2026-11-20", "a: !include /etc/passwd", "!!set {a, b}", "a: !!omap []"]
)
def test_no_tag_makes_something_else_of_a_value(text):
    assert refused(text) == ["syntax"]


def test_a_billion_of_nothing_is_refused_too():
    lines = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 50)}]" for n in range(1, 6)]

    assert refused("\n".join(["a0: &a0 []", *lines])) == ["too_many_values"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"a": 1, "a": 2}', "duplicate_key"),
        ('{"a": NaN}', "value"),
        ('{"a": 1e999}', "value"),
        ('{"a": "\\ud800"}', "value"),
        ("[" * 200_000, "too_deep"),
        ("{", "syntax"),
        ("[]", "type"),
    ],
)
def test_json_that_is_no_plain_document_is_refused(text, code):
    assert refused(text, "application/json") == [code]


def test_an_error_names_line_and_column():
    with pytest.raises(DefinitionError, match=r"line 2, column 1"):
        load_text("a: 1\na: 2", content_type="yaml")


def test_another_content_type_is_refused():
    assert refused("a: 1", "text/plain") == ["content_type"]


def test_after_becomes_edges_and_edges_get_their_outcome():
    document = {
        "tasks": [{"id": "a"}, {"id": "b", "after": "a"}, {"id": "c", "after": ["a", "b:true"]}],
        "edges": [{"from": "a", "to": "c", "on": False}, {"from": "b", "to": "a"}],
    }

    assert normalise(document) == {
        "tasks": [{"id": "a"}, {"id": "b"}, {"id": "c"}],
        "edges": [
            {"from": "a", "to": "c", "on": "false"},
            {"from": "b", "to": "a", "on": "success"},
            {"from": "a", "to": "b", "on": "success"},
            {"from": "a", "to": "c", "on": "success"},
            {"from": "b", "to": "c", "on": "true"},
        ],
    }
    assert "after" in document["tasks"][1]
