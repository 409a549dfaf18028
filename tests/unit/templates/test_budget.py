"""Expressions that would hold a process or fill its memory are refused before they do."""

import time
from typing import Any

import pytest

from executions.errors import PayloadError
from executions.payloads import dump
from executions.templates import TemplateError, TemplateSyntaxProblems, compile_template
from executions.templating import meter
from executions.templating.meter import RenderingTimeout, TooMuchWork, metered

NESTED = "[[[['a'] * 100] * 100] * 100] * 100"
LONG = "('x' * 1000000)"
SCOPE: dict[str, Any] = {"input": {"text": "a" * 1_000, "rows": [{"n": n} for n in range(100)]}}

# fmt: off
HOSTILE = [
    f"{NESTED} == {NESTED}", f"{NESTED} < {NESTED}", f"{NESTED} in [{NESTED}]",
    f"([{NESTED}] * 9) | unique | list", f"([{NESTED}] * 9) | sort", f"([{NESTED}] * 9) | max",
    f"[{NESTED}] | select('eq', {NESTED}) | list", f"({NESTED}).count({NESTED})",
    f"({NESTED}) | tojson", f"({NESTED}) ~ ''", f"({NESTED}) | string", f"({NESTED}) | upper",
    f"({NESTED}) | urlencode", f"'%s' % ({NESTED},)", f"'%r' | format({NESTED})",
    f"([{LONG}] * 100000) | tojson", f"([{LONG}] * 100000) | join", f"([{LONG}] * 100000) | sort",
    f"([{LONG}] * 1000) | map('upper') | list", f"([{LONG}] * 1000) | map('list') | list",
    "'%(a)1500000000s' % {'a': 1}", "'%1500000000d' % 1", "'%.1500000000f' % 1", "'%*d' % (9, 1)",
    f"('%s' * 100000) % (([{LONG}] * 100000) | list)", f"'%s%s' % ({LONG}, {LONG})",
    "('%s' * 100000) % ('x' * 1000)", "'\\t'.expandtabs(tabsize=2000000000)",
    "'\\t'.expandtabs(2000000000)", "'a'.center(2000000000)", "'a'.zfill(2000000000)",
    "'a' | center(width=2000000000)", "'a b' | truncate(length=2000000000, end='x' * 1000000)",
    "[1] | batch(linecount=2000000000, fill_with=1) | list", "'a\nb' | indent(width=2000000000)",
    f"{LONG} + {LONG}", f"{LONG} ~ {LONG}", "(range(100000) | list) * 1000",
    "range(100000) | map('string') | map('center', 1000) | list", "1.5 | round(precision=400)",
    "('1' * 1000000) | int(base=2)", "9 ** 99999", "{(([1] * 1000,) * 1000,) * 1000: 1}",
    f"{{}}[(({LONG},) * 100000,) * 100]", "('<!---->' * 100000) | striptags",
    "('a,' * 500000).split(',')", f"{LONG}.split('', 1)",
]
# fmt: on


@pytest.fixture
def in_web(monkeypatch: pytest.MonkeyPatch) -> None:
    """The budget of the web process."""
    monkeypatch.setattr(meter, "_limits", lambda: (meter.WEB, meter.WEB_BYTES))


@pytest.mark.parametrize("expression", HOSTILE)
def test_a_hostile_expression_is_refused_at_once(expression: str, in_web: None) -> None:
    template = compile_template(f"{{{{ {expression} }}}}")
    began = time.thread_time()

    with pytest.raises(TemplateError):
        template.render(SCOPE)

    # A fraction of a second: what is refused here ran for minutes, or for ever.
    assert time.thread_time() - began < 10


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("input.rows | map(attribute='n') | sum", 4950),
        ("input.rows | sort(attribute='n', reverse=true) | first", {"n": 99}),
        ("input.rows | selectattr('n', 'gt', 97) | list", [{"n": 98}, {"n": 99}]),
        ("'%05.1f|%-4s|%x|%%' % (3.14159, 'ab', 255)", "003.1|ab  |ff|%"),
        ("'%(a)s-%(b)d' % {'a': 'x', 'b': 2}", "x-2"),
        ("'%s of %s' | format('1', [2])", "1 of [2]"),
        ("1 < 2 < 3 and not 3 < 2", True),
        ("[1, [2, 3]] == [1, [2, 3]]", True),
        ("'b' in {'b': 1} and 2 not in [1] and 'ell' in 'hello'", True),
        ("'a,b'.split(',') + ['c']", ["a", "b", "c"]),
        ("input.text[2:5] ~ [1, 2][1:]", "aaa[2]"),
        ("['b', 'A'] | sort", ["A", "b"]),
        ("[[2, 'x'], [1, 'y']] | sort(attribute='1,0')", [[2, "x"], [1, "y"]]),
        ("[3, 1, 1] | unique | list", [3, 1]),
        ("{'a': 1, 'b': [2]}", {"a": 1, "b": [2]}),
    ],
)
def test_ordinary_expressions_are_what_they_were(expression: str, value: Any) -> None:
    assert compile_template(f"{{{{ {expression} }}}}").render(SCOPE) == value


def test_all_expressions_of_a_value_count_against_one_budget() -> None:
    one = "{{ (range(30000) | map('string') | list) | length }}"

    assert compile_template([one]).render({}) == [30_000]
    with pytest.raises(TooMuchWork):
        compile_template([one] * 200).render({})


def test_rendering_ends_when_the_step_s_time_is_over() -> None:
    template = compile_template(["{{ range(100000) | map('string') | join | length }}"] * 20)

    with pytest.raises(RenderingTimeout, match="the step's time was over"), metered(0.001):
        template.render({})


def test_nothing_goes_on_after_the_budget_is_spent() -> None:
    template = compile_template(
        ["{{ range(100000) | map('string') | list }}"] * 99 + ["{{ 1 + 1 }}"]
    )

    with metered():
        with pytest.raises(TooMuchWork):
            template.render({})
        with pytest.raises(TooMuchWork):
            compile_template("{{ 1 < 2 }}").render({})


def test_a_text_of_many_places_is_refused_before_it_is_joined() -> None:
    template = compile_template("{{ input.text }}" * 3_000)

    with pytest.raises(TemplateError, match="longer than"):
        template.render(SCOPE)


def test_a_value_that_holds_one_text_many_times_is_not_encoded() -> None:
    text = "a" * 1_000_000
    for value in ([text] * 100_000, {"a": [[text] * 1_000] * 1_000}, [[[[0] * 99] * 99] * 99] * 99):
        with pytest.raises(PayloadError, match="more than 20,971,520 bytes"):
            dump(value)


def test_a_keyword_that_is_given_twice_is_a_mistake_in_the_template() -> None:
    with pytest.raises(TemplateSyntaxProblems, match="a keyword argument is given twice"):
        compile_template("{{ input.text | center(width=1, width=2) }}")
