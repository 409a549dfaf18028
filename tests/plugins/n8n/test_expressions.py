"""Tests of simple JavaScript expressions: their translation and their results."""

import pytest

from executions.definition.templates import RenderBudget, compile_expression, compile_template
from valkyr_plugins.n8n.expressions.parsing import Untranslatable
from valkyr_plugins.n8n.expressions.translation import translated
from valkyr_plugins.n8n.shape import Shape, Sight, many, one
from valkyr_plugins.n8n.texts import Texts, parts

NODES = {
    "Fetch": one("tasks.fetch.output.body"),
    "Hook": Shape(named={("body",): "input"}),
    "Feed": many("tasks.feed.output.entries", {("pubDate",): ("published",)}),
}
DATA = {
    "tasks": {
        "a": {"output": {"name": "Ann Lee", "n": 3, "tags": ["x", "y"], "odd key": 1, "": 0}},
        "fetch": {"output": {"body": {"id": 7, "list": [{"id": 1}, {"id": 2}]}}},
        "feed": {"output": {"entries": [{"title": "T", "published": "P"}]}},
    },
    "input": {"total": 12},
    "vars": {"SHOP": "tea"},
    "execution": {"id": "e1", "startedAt": "2026-11-22T09:08:07+00:00"},
}


def sight(**more: object) -> Sight:
    return Sight(one("tasks.a.output"), NODES.get, lambda name: name, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("source", "ours", "value"),
    [
        ("$json.name", "tasks.a.output.name", "Ann Lee"),
        ('$json["odd key"]', 'tasks.a.output["odd key"]', 1),
        ("$json.tags[1]", "tasks.a.output.tags[1]", "y"),
        ("$input.item.json.n", "tasks.a.output.n", 3),
        ("$input.first().json.n", "tasks.a.output.n", 3),
        ("$input.all()[0].json.n", "tasks.a.output.n", 3),
        ('$node["Fetch"].json["id"]', "tasks.fetch.output.body.id", 7),
        ("$node.Fetch.json.id", "tasks.fetch.output.body.id", 7),
        ("$('Fetch').item.json.list[0].id", "tasks.fetch.output.body.list[0].id", 1),
        ("$('Fetch').first().json.id", "tasks.fetch.output.body.id", 7),
        ("$('Fetch').last().json.id", "tasks.fetch.output.body.id", 7),
        ('$items("Fetch")[0].json.id', "tasks.fetch.output.body.id", 7),
        ('$item(0).$node["Fetch"].json.id', "tasks.fetch.output.body.id", 7),
        ("$('Hook').item.json.body.total", "input.total", 12),
        ("$('Feed').first().json.pubDate", "tasks.feed.output.entries[0].published", "P"),
        ("$env.SHOP", "vars.SHOP", "tea"),
        ("$vars.SHOP.length", "vars.SHOP | length", 3),
        ("$execution.id", "execution.id", "e1"),
        ("$now", "execution.startedAt", DATA["execution"]["startedAt"]),  # type: ignore[index]
        ("$now.toISO()", "execution.startedAt", DATA["execution"]["startedAt"]),  # type: ignore[index]
        ("$today.toISODate()", "execution.startedAt[0:10]", "2026-11-22"),
    ],
)
def test_what_is_read_is_found_where_our_tasks_put_it(
    source: str, ours: str, value: object
) -> None:
    found = translated(source, sight())

    assert found == ours
    assert compile_expression(found).evaluate(DATA, RenderBudget()) == value


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("$json.name.toUpperCase()", "ANN LEE"),
        ("$json.name.split(' ')[1].toLowerCase()", "lee"),
        ("$json.name.replace('n', 'N')", "ANn Lee"),
        ("$json.name.replaceAll('n', 'N')", "ANN Lee"),
        ("$json.name.substring(0, 3)", "Ann"),
        ("$json.name.includes('Lee')", True),
        ("$json.name.startsWith('Lee')", False),
        ("$json.tags.join(', ')", "x, y"),
        ("$json.tags.length + 1", 3),
        ("$json.n > 2 && $json.tags.length === 2", True),
        ("$json.n > 2 ? 'many' : 'few'", "many"),
        ("$json.missing || 'none'", "none"),
        ("$json.missing ?? 5", 5),
        ("$json?.missing?.deeper", None),
        ("!$json.n", False),
        ("-$json.n * 2", -6),
        ("'n is ' + $json.n", "n is 3"),
        ("`${$json.name} has ${$json.n}`", "Ann Lee has 3"),
        ("JSON.stringify($json.tags)", '["x", "y"]'),
        ("Math.round(2.6)", 3),
        ("[$json.n, 'a', null]", [3, "a", None]),
        ("{n: $json.n, 'b': true}", {"n": 3, "b": True}),
        ("$now.format('dd.MM.yyyy HH:mm')", "22.11.2026 09:08"),
        ("$now.toFormat(\"yyyy-MM-dd'T'HH\")", "2026-11-22T09"),
        ("$json.n.toString()", "3"),
        ("Number('1.5')", 1.5),
        ("$if($json.n > 5, 'a', 'b')", "b"),
        ("/* why */ $json.n;", 3),
    ],
)
def test_what_is_worked_out_comes_to_the_same(source: str, value: object) -> None:
    assert compile_expression(translated(source, sight())).evaluate(DATA, RenderBudget()) == value


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("$json.tags.map(tag => tag.id)", "function"),
        ("new Date().getTime()", "creates an object"),
        ("$json.name.replace(/a/g, 'b')", "regular expression"),
        ("$json.a + $json.b", "adds or joins"),
        ("$('Nobody').item.json.id", '"Nobody" does not always run before'),
        ("$fromAI('x')", "$fromAI"),
        ("$binary.data", "$binary"),
        ("$now.plus({days: 1})", "$now"),
        ("$now.format('EEEE')", "EEEE"),
        ("$('Feed').item.json.title", "flow.map"),
        ("$('Hook').item.json.headers.host", "known"),
        ("$json.x; $json.y", "more than one value"),
        ("(" * 100 + "1" + ")" * 100, "nested"),
        ("", "its end"),
        ("'open", "cannot be parsed"),
    ],
)
def test_what_has_no_equal_is_refused_with_a_reason(source: str, reason: str) -> None:
    with pytest.raises(Untranslatable, match=reason.replace("$", r"\$").replace("(", r"\(")):
        translated(source, sight())


def test_a_variable_that_sounds_like_a_secret_is_no_variable() -> None:
    seen = sight()
    seen.variable = lambda name: None

    with pytest.raises(Untranslatable, match="credential"):
        translated("$env.API_TOKEN", seen)


def test_texts_keep_what_is_around_their_expressions() -> None:
    texts = Texts(sight())

    assert texts.text("=Dear {{ $json.name }}, {{ $json.n }}!") == (
        "Dear {{ tasks.a.output.name }}, {{ tasks.a.output.n }}!"
    )
    assert texts.value({"a": ["={{ $json.n }}", 1, "plain"]}) == {
        "a": ["{{ tasks.a.output.n }}", 1, "plain"]
    }
    assert texts.unfinished == 0


def test_an_expression_ends_where_its_objects_and_texts_have_ended() -> None:
    assert parts("{{ {a: {b: 1}} }}{{ '}}' }}x") == [
        (True, "{a: {b: 1}}"), (True, "'}}'"), (False, "x"),
    ]  # fmt: skip
    assert parts("{ {{ $json.a }}}") == [(False, "{ "), (True, "$json.a"), (False, "}")]


def test_braces_that_are_no_expression_stay_braces() -> None:
    written = Texts(sight()).text("Use {{ or {% here")

    assert compile_template(written).render(DATA) == "Use {{ or {% here"


def test_what_was_not_translated_stays_readable_in_its_place() -> None:
    texts = Texts(sight())

    written = texts.text("=a {{ $json.tags.map(t => t) }} b")

    assert written == 'a {{ todo("$json.tags.map(t => t)") }} b'
    assert texts.unfinished == 1
    assert "it contains a function" in next(iter(texts.sight.remarks))


def test_json_with_expressions_in_it_keeps_its_form() -> None:
    texts = Texts(sight())

    assert texts.json_text('={"n": {{ $json.n }}, "t": "Hi {{ $json.name }}", "l": [1]}') == {
        "n": "{{ tasks.a.output.n }}", "t": "Hi {{ tasks.a.output.name }}", "l": [1],
    }  # fmt: skip
    with pytest.raises(ValueError, match="is computed"):
        texts.json_text('={"{{ $json.name }}": 1}')
