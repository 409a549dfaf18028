"""No expression, even a short one, may compute or build more than its budget allows."""

import time
import tracemalloc
from dataclasses import replace

import pytest

from executions.definition.templates import (
    WEB,
    WORKER,
    RenderBudget,
    TemplateError,
    TemplateTimeout,
    compile_template,
)

MEBIBYTE = 1024 * 1024
NESTED = "[[[[[1] * 100] * 100] * 100] * 100] * 100"
SCOPE = {"input": {"n": 1, "words": ["b", "a"], "text": "x" * 1_000_000, "row": {"id": 1}}}


def render(expression: str, **limits: object) -> object:
    budget = RenderBudget(**({"profile": WEB} | limits))  # type: ignore[arg-type]
    return compile_template("{{ " + expression + " }}").render(SCOPE, budget)


def work_only() -> RenderBudget:
    """Return a web process's budget of work, with a CPU time that a slow machine does not reach
    first.
    """
    return RenderBudget(profile=replace(WEB, seconds=60))


def ended(expression: str) -> str:
    """Return the message of the error that ends the rendering; "" if it succeeds."""
    try:
        render(expression)
    except TemplateError as error:
        return str(error)
    return ""


HOSTILE = [
    # What the operators compare, find and hash.
    f"({NESTED}) == ({NESTED})",
    f"({NESTED}) != ({NESTED})",
    f"({NESTED}) < ({NESTED})",
    f"({NESTED}) <= ({NESTED}) < ({NESTED})",
    f"({NESTED}) in [{NESTED}]",
    f"({NESTED}) not in ({NESTED})",
    f"({NESTED}) is eq({NESTED})",
    f"({NESTED}) is in([{NESTED}])",
    f"[{NESTED}].index({NESTED})",
    f"[{NESTED}].count({NESTED})",
    f"([{NESTED}] * 1000) | sort",
    f"([{NESTED}] * 1000) | max",
    f"[[{NESTED}]] | groupby(0)",
    "[(((((1,) * 100,) * 100,) * 100,) * 100,)] | unique | list",
    "{(((((1,) * 100,) * 100,) * 100,) * 100): 1}",
    "({})[((((1,) * 100,) * 100,) * 100,) * 100]",
    "({}).get(((((1,) * 100,) * 100,) * 100,) * 100)",
    "range(100000) | map('map', 'map') | list | sort",
    "('ab' * 500000).rfind('ab' + 'a' * 400000)",
    "('a' * 1000000).rsplit('ab' + 'a' * 400000)",
    "('a' * 1000000).strip('b' * 1000000 ~ 'a')",
    # What is written as text.
    "(['a' * 1000000] * 100000) | tojson",
    "(['a' * 1000000] * 100000) | string",
    "(['a' * 1000000] * 100000) | upper",
    "(['a' * 1000000] * 100000) ~ ''",
    "(['a' * 1000000] * 100000) | join",
    "['a' * 1000000] * 100000",
    NESTED,
    f"({NESTED}) | length | string ~ ({NESTED})",
    " ~ ".join(["input.text"] * 240),
    # Formats.
    '"%(a)1500000000s" % {"a": 1}',
    '"%1500000000s" % 1',
    '"%.1500000000f" % 1',
    '"%*d" % (1500000000, 1)',
    '"%.*f" % (1500000000, 1)',
    '("%s" * 100000) % (range(100000) | map("string") | list,)',
    '("%(a)s" * 10000) % {"a": "x" * 1000000}',
    '("%s" * 10) % (["x" * 1000000] * 10)',
    '"%(a)1500000000s" | format(a=1)',
    '"%1500000000d" is odd',
    '"%(a)1500000000s" is divisibleby({"a": 1})',
    '"%(a)((b)s" % {"a": 1}',
    f'"%s" % [{NESTED}]',
    f'"%r" % [{NESTED}]',
    # Methods and filters, by place and by name.
    r'"\t".expandtabs(2000000000)',
    r'"\t".expandtabs(tabsize=2000000000)',
    r'("\t" * 1000).expandtabs(tabsize=2000000)',
    '"x".center(2000000000)',
    '"x".ljust(width=2000000000)',
    '"x".zfill(width=2000000000)',
    '"x" | center(width=2000000000)',
    r'"a\nb" | indent(width=2000000000)',
    r'("a\r" * 100000) | indent(1000)',
    r'("a\u2028" * 100000) | indent(width=1000)',
    "[1] | batch(linecount=2000000000, fill_with=0) | list",
    "[1] | slice(slices=2000000000) | list",
    '"x" | round(2, "ceil")',
    '["x"] | round(precision=9, method="floor")',
    "1.5 | round(precision=2000000000)",
    '("\\u0390" * 500000) | upper',
    '("&" * 1000000) | e',
    '("\\U0001F600" * 200000) | urlencode',
    '("<>" * 500000) | striptags',
    '("<!--" * 250000) | striptags',
    '("&a" * 500000) | striptags',
    '(" a" * 500000) | title',
    '(" a" * 500000) | wordcount',
    '("f" * 1000000) | int(0, 16)',
    '("9" * 1000000) | float',
    '"a" | replace("a", new="b" * 1000000) | replace("b", "c" * 1000000)',
    '("a" * 1000000) | list',
    '("a" * 1000000).split("a")',
    '(" a" * 500000).split()',
    r'("\n" * 1000000).splitlines()',
    # Keys to sort by, which are texts in lower case.
    "(['f' * 90000] * 20000) | sort",
    "(['f' * 90000] * 20000) | unique | list",
    "(['f' * 90000] * 20000) | max",
    "([{'a': 'f' * 90000}] * 20000) | groupby('a')",
    "([{'a': 'f' * 90000}] * 20000) | sort(attribute='a,a')",
    "({'a': 'f' * 90000} | items | list) * 20000 | sort(attribute=1)",
    "range(50000) | list | groupby(1)",
    # Loops of filters within filters.
    "([range(100000)] * 100000) | map('sum') | sum",
    "([range(100000)] * 100000) | map('list') | list",
    "([range(100000)] * 100000) | map('sort') | first | length",
    "([range(100000)] * 100000) | map('max') | max",
    "([[1] * 1000] * 100000) | map('map', 'string') | map('join') | join",
    "([[1] * 1000] * 100000) | sum(start=[])",
    "(['x' * 1000] * 100000) | map('replace', 'x', 'y' * 1000) | list",
    "range(100000) | map('default', *range(100000)) | list",
    "(['%s'] * 100000) | map('format', 'x' * 100000) | list",
    "([{'a': 1}] * 100000) | map(attribute='a' ~ '.a' * 1000) | list",
    "([{'a': 1}] * 100000) | sort(attribute='a,' * 1000)",
    "range(100000) | select('in', range(100000) | list) | list",
    "range(100000) | map('string') | map('int', 0, 2) | unique | sort | list",
    # What an error would quote.
    f"({NESTED})[{NESTED}]",
    f"[1].index({NESTED})",
    f"1 | map({NESTED}) | list",
    f"[1] | map({NESTED}) | list",
    "({'x' * 1000000: 1}).y",
    "(2 ** 8000) ** 2",
    "(2 ** 8000) * (2 ** 8000)",
]


@pytest.mark.parametrize("expression", HOSTILE)
def test_a_hostile_expression_stays_within_the_memory_of_a_web_process(expression):
    tracemalloc.start()
    try:
        message = ended(expression)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 128 * MEBIBYTE
    assert len(message) < 1_000


@pytest.mark.parametrize(
    "expression",
    [
        f"({NESTED}) == ({NESTED})",
        '"%(a)1500000000s" % {"a": 1}',
        r'"\t".expandtabs(tabsize=2000000000)',
        "(['a' * 1000000] * 100000) | tojson",
        '("%s" * 100000) % (["x" * 1000] * 100000)',
        f"[{NESTED}] | sort | unique | list",
    ],
)
def test_what_no_process_may_do_is_refused_in_a_worker_too(expression):
    with pytest.raises(TemplateError):
        render(expression, profile=WORKER)


def test_all_expressions_of_a_template_share_one_budget():
    one = "{{ range(9000) | map('string') | list | length }}"
    assert compile_template([one]).render(SCOPE, work_only()) == [9_000]

    with pytest.raises(TemplateError, match="more work than a web process allows"):
        compile_template([one] * 10).render(SCOPE, work_only())


def test_a_text_that_repeats_a_large_value_is_refused_before_it_is_joined():
    with pytest.raises(TemplateError, match="characters"):
        compile_template("{{ input.text }}" * 1_000).render(SCOPE, work_only())


def test_many_large_texts_in_one_template_are_refused():
    with pytest.raises(TemplateError, match="MiB"):
        compile_template(["x{{ input.text }}"] * 1_000).render(SCOPE, RenderBudget(profile=WORKER))


def test_rendering_ends_when_its_step_is_out_of_time():
    late = RenderBudget(profile=WORKER, deadline=time.monotonic() - 1)

    with pytest.raises(TemplateTimeout, match="time limit of the step"):
        compile_template("{{ range(90000) | map('string') | list | length }}").render(SCOPE, late)


def test_rendering_ends_when_its_cpu_time_is_over():
    brief = RenderBudget(profile=WORKER, seconds=0.001)

    with pytest.raises(TemplateTimeout, match="CPU time"):
        compile_template("{{ range(90000) | map('string') | list | length }}").render(SCOPE, brief)


def test_a_worker_may_do_more_than_a_web_process():
    expression = "range(90000) | map('string') | list | sort | length"

    with pytest.raises(TemplateError):
        render(expression, profile=WEB)
    assert render(expression, profile=WORKER) == 90_000


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 < input.n + 1 < 3", True),
        ("1 < 5 < 3", False),
        ("[1, [2]] == [1, [2]]", True),
        ("[1] < [2]", True),
        ("'a' in input.words", True),
        ("[1] not in [[1]]", False),
        ("3 in range(5)", True),
        ("'id' in input.row", True),
        ("input.words[::-1]", ["a", "b"]),
        ("'abc'[1:]", "bc"),
        ("{1: 'x'}[1]", "x"),
        ("input.row.items() | list", [["id", 1]]),
        ("input.words.index('a')", 1),
        ("'%s is %5.1f%%' % ('x', 2)", "x is   2.0%"),
        ("'%(a)s' % {'a': [1, 'x']}", '[1, "x"]'),
        ("'%05d|%-3s|%+d' | format(7, 'a', 3)", "00007|a  |+3"),
        ("'a,b,c'.split(',', 1)", ["a", "b,c"]),
        ("'a b'.rsplit()", ["a", "b"]),
        (r"'a\tb'.expandtabs(tabsize=2)", "a b"),
        ("'x'.center(3, fillchar='-')", "-x-"),
        (r"'a\nb' | indent(2, first=true)", "  a\n  b"),
        ("'hello big world' | truncate(length=9)", "hello..."),
        ("'<!-- c --><b>x</b> &amp; y' | striptags", "x & y"),
        ("'hello wOrld-wide' | title", "Hello World-Wide"),
        ("'a/b c' | urlencode", "a/b%20c"),
        ("{'q': 'a b', 'r': 1} | urlencode", "q=a+b&r=1"),
        ("[{'a': 'B'}, {'a': 'b'}, {'a': 'A'}] | groupby('a') | map('first') | list", ["A", "B"]),
        (
            "[{'a': 2, 'b': 1}, {'a': 1, 'b': 2}] | sort(attribute='a,b') | map(attribute='b')",
            [2, 1],
        ),
        ("['b', 'A', 'c'] | sort(reverse=true)", ["c", "b", "A"]),
        ("['b', 'A', 'B'] | unique | list", ["b", "A"]),
        ("{'b': 1, 'A': 2} | dictsort", [["A", 2], ["b", 1]]),
        ("[1, 2, 3] | batch(2, 0) | list", [[1, 2], [3, 0]]),
        ("[1, 2, 3] | slice(2) | list", [[1, 2], [3]]),
        ("[3, 1, 2] | max", 3),
        ("[{'a': 1}, {'a': 2}] | min(attribute='a')", {"a": 1}),
        ("'12.7' | int", 12),
        ("'ff' | int(0, 16)", 255),
        ("'x' | int(default=3)", 3),
        ("2.567 | round(2)", 2.57),
        ("2.1 | round(0, 'ceil')", 3.0),
        ("1500000 | filesizeformat", "1.5 MB"),
        ("[1, 2, 3] | select('odd') | list", [1, 3]),
        ("[{'a': 1}, {'a': 2}] | selectattr('a', '>', 1) | list", [{"a": 2}]),
        ("[{'a': 1}, {}] | map(attribute='a', default=0) | list", [1, 0]),
        ("'a b c' | wordcount", 3),
        ("'<' | tojson", '"<"'),
        ("[1, 2] | reverse | list", [2, 1]),
        ("10 is divisibleby 5", True),
    ],
)
def test_operators_filters_and_methods_give_what_they_gave(expression, value):
    assert render(expression) == value
