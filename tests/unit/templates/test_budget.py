"""No expression may do or build more than its budget allows, however small it is to write."""

import time
import tracemalloc

import pytest

from executions.templates import WEB, Budget, TemplateError, TemplateTimeout, compile_template

MEBIBYTE = 1024 * 1024
NESTED = "[[[[1] * 100] * 100] * 100] * 100"
SCOPE = {"input": {"n": 1, "words": ["b", "a"], "text": "x" * 1_000_000, "row": {"id": 1}}}


def render(expression: str, **limits: object) -> object:
    budget = Budget(**({"profile": WEB} | limits))  # type: ignore[arg-type]
    return compile_template("{{ " + expression + " }}").render(SCOPE, budget)


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
    "((((1,) * 100,) * 100,) * 100,) * 100 is filter",
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
    " ~ ".join(["input.text"] * 500),
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
    '[1] | batch(linecount=2000000000, fill_with=0) | list',
    '[1] | slice(slices=2000000000) | list',
    '"x" | round(2, "ceil")',
    '["x"] | round(precision=9, method="floor")',
    '1.5 | round(precision=2000000000)',
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
    # Loops of filters within filters.
    "([range(100000)] * 100000) | map('sum') | sum",
    "([range(100000)] * 100000) | map('list') | list",
    "([range(100000)] * 100000) | map('sort') | first | length + ([range(100000)] * 100000) | map('max') | max",
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


@pytest.mark.quiet
@pytest.mark.parametrize("expression", HOSTILE)
def test_a_hostile_expression_is_refused_or_done_within_what_a_web_process_allows(expression):
    compile_template("{{ " + expression + " }}")
    tracemalloc.start()
    began = time.thread_time()
    try:
        render(expression)
    except TemplateError as error:
        assert len(str(error)) < 1_000
    finally:
        spent = time.thread_time() - began
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()

    assert peak < 128 * MEBIBYTE
    assert spent < 1  # tracing makes it some ten times slower; the fuzzer measures without
