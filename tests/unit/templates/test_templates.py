import threading

import pytest

from executions.definition.templates import (
    TemplateError,
    TemplateSyntaxProblems,
    compile_template,
)

SCOPE = {
    "input": {"n": 1, "name": "Ada", "list": [3, 1, 2], "items": "a key", "none": None, "key": "x"},
    "vars": {"carrier": "dhl"},
    "tasks": {"a": {"output": {"x": 5, "rows": [{"id": 7}]}, "outcome": "success"}},
    "previous": {"n": 41},
}


def render(value):
    return compile_template(value).render(SCOPE)


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("plain", "plain"),
        ("{{ input.n }}", 1),
        ("{{ input }}", SCOPE["input"]),
        ("{{ tasks.a.output.rows[0].id }}", 7),
        ("{{ tasks['a'].output.rows[-1]['id'] }}", 7),
        ("{{ tasks.a.output[input.key] }}", 5),
        ("{{ previous.n + 1 }}", 42),
        ("{{ input.items }}", "a key"),
        ("{{ input.items ~ '' }}", "a key"),
        ("{{ input.nothing | default('d') }}", "d"),
        ("{{ 'inf' | float | int(3) }}", 3),
        ("{{ (10 ** 400) | float(2.5) }}", 2.5),
        ("{{ input.name.upper() }}", "ADA"),
        ("{{ input.get('nothing', 3) }}", 3),
        ("{{ input.list | sort | first }}", 1),
        ("{{ {'a': {'b': [1, none]}} }}", {"a": {"b": [1, None]}}),
        ('{{ "}}" }}', "}}"),
        ("{{ input.list | map('string') }}", ["3", "1", "2"]),
        ("{{ 'yes' if tasks.a.outcome == 'success' else 'no' }}", "yes"),
        ("Order {{ input.n }} by {{vars.carrier}}", "Order 1 by dhl"),
        ("{{ input.none }}{{ true }}{{ input.list }}", "nulltrue[3, 1, 2]"),
        ("{{ 'a' ~ none ~ true }}", "anulltrue"),
        ("a\r\n{{ input.n }}\r\n", "a\r\n1\r\n"),
        ("a {{- input.n -}} b", "a1b"),
        ("{# kept #} {{ input.n }}", "{# kept #} 1"),
        ("{{ '<' | e }}", "&lt;"),
        ("{{ {'a': '<'} | tojson }}", '{"a": "<"}'),
    ],
)
def test_an_expression_yields_its_value_and_text_is_joined(template, value):
    rendered = render(template)

    assert rendered == value
    assert type(rendered) is type(value)


def test_a_nested_value_is_rendered_in_its_order_and_new_each_time():
    template = compile_template({"b": ["{{ input.n }}", {"c": "x"}], "a": 1})

    first, second = template.render(SCOPE), template.render(SCOPE)
    first["b"][1]["c"] = "changed"

    assert list(first) == ["b", "a"]
    assert second == {"b": [1, {"c": "x"}], "a": 1}
    assert not template.constant
    assert compile_template({"a": ["b"]}).constant


def test_references_are_the_leading_names_of_what_is_read():
    template = compile_template(
        [
            "{{ tasks.a.output.x + tasks['b-c'].outcome }}",
            "{{ vars.carrier.x }} {{ input.y[previous.z] }}",
        ]
    )

    assert template.references == {
        ("tasks", "a", "output"),
        ("tasks", "b-c", "outcome"),
        ("vars", "carrier"),
        ("input",),
        ("previous",),
    }


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{{ tasks.a.output.y }}", ['"tasks.a.output" has no key "y"', '"x", "rows"', "url[0]"]),
        ("{{ input.none.x }}", ['"input.none" is null']),
        ("{{ input.list[9] }}", ["has 3 items, but none at 9"]),
        ("{{ nothing }}", ['"nothing" is not available here']),
        ("{{ input.zz + 1 }}", ['has no key "zz"']),
        ("{{ 1 / 0 }}", ["division by zero"]),
        ("{{ input.get }}", ["{{ input.get }}"]),
        ("{{ (input.name ~ '').upper }}", ["method"]),
        ("{{ ''.__class__ }}", ["__class__"]),
        ("{{ input.list.append(3) }}", ["append"]),
        ("{{ ''['__class__'] }}", ["__class__"]),
        ("{{ '{:>9999999999}'.format(1) }}", ["format"]),
    ],
)
def test_a_failure_names_the_template_the_key_and_the_reason(template, words):
    with pytest.raises(TemplateError) as caught:
        render({"url": [template]})

    assert all(word in str(caught.value) for word in [f'template "{template}" at url[0]', *words])


@pytest.mark.parametrize(
    "expression",
    [
        "'x' * 10**9",
        "[1] * 10**9",
        "(10**9)**(10**9)",
        "'x' | center(10**9)",
        "'x'.ljust(10**9)",
        "'\t'.expandtabs(10**9)",
        "range(10**12)",
        "range(100000) | join('x' * 10**6)",
        "('x' * 10**6).replace('x', 'y' * 10**6)",
        "('x' * 10**6) | replace('x', 'y' * 10**6)",
        "'%1000000000d' | format(1)",
        "'%1000000000d' % 1",
        "'%*d' % (10**9, 1)",
        "[1] | batch(10**9, 0) | list",
        "[1] | slice(10**9) | list",
        "1.5 | round(10**9)",
        "'a\nb' | indent(10**9)",
        "'x' * 10**6 ~ 'x' * 10**6",
        "1e308 * 10",
    ],
)
def test_a_small_template_cannot_make_a_huge_value(expression):
    with pytest.raises(TemplateError):
        render("{{ " + expression + " }}")


@pytest.mark.parametrize(
    ("template", "code"),
    [
        ("{{ }}", "template_syntax"),
        ("{{ a", "template_syntax"),
        ("{{ a b }}", "template_syntax"),
        ("{% if a %}", "template_statement"),
        ("{{ a | random }}", "unknown_filter"),
        ("{{ a is odder }}", "unknown_test"),
        ("{{ " + "(" * 5000 + "}}", "template_too_complex"),
        ("{{ " + "not " * 2000 + "a }}", "template_too_complex"),
        ("{{ " + "1+" * 2000 + "1 }}", "template_too_complex"),
        ("{{ " + "9" * 5000 + " }}", "template_syntax"),
        ("{{ '" + "\\'" * 100_000, "template_syntax"),
    ],
)
def test_a_template_that_cannot_be_compiled_is_refused_with_its_place(template, code):
    with pytest.raises(TemplateSyntaxProblems) as caught:
        compile_template({"ok": "{{ input.n }}", "bad": [template]})

    assert [(p.pointer, p.code) for p in caught.value.problems] == [(("bad", 0), code)]


def test_keys_hold_no_templates():
    with pytest.raises(TemplateSyntaxProblems, match="is a key"):
        compile_template({"{{ input.n }}": 1})


def test_threads_may_render_a_template_for_the_first_time_together():
    template = compile_template("{{ 1 + 1 ~ input.n * 2 + [1, 2, 3] | sum }}".replace("~", "+"))
    barrier, results = threading.Barrier(8), []

    def work():
        barrier.wait()
        results.append(template.render(SCOPE))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert results == [10] * 8
