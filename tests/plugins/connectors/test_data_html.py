"""Tests of HTML: results of selectors, nested records, and bounded time for every selector."""

import time

import pytest
from pydantic import ValidationError

from runners.modules import registry
from runners.modules.base import StepError
from valkyr_plugins.connectors.data.html_document import Document, taken_apart

PAGE = """
<html><head><title>Tea &amp; more</title></head><body>
<h1> Our <b>teas</b>
</h1>
<ul id=teas>
  <li class="tea new"><a href="/oolong">Oolong</a> <span>12.50</span>
  <li class="tea"><a href="/sencha" data-id=7>Sencha</a> <span>9</span>
  <li class="cup"><a>Cup</a>
</ul>
<p>first<p>second<p class=x>third
</body></html>
"""


def extract(context, html=PAGE, **fields):
    return (
        registry.get("data.html_extract")
        .run({"html": html, "fields": fields}, context)
        .outputs["data"]
    )


def test_a_selector_alone_yields_the_first_elements_text(step_context):
    assert extract(step_context, title="title", heading="h1", none="h2") == {
        "title": "Tea & more",
        "heading": "Our teas",
        "none": None,
    }


def test_records_are_read_within_each_element(step_context):
    teas = {
        "selector": "#teas > li.tea",
        "all": True,
        "get": "fields",
        "fields": {
            "name": "a",
            "link": {"selector": "a", "get": "attribute", "attribute": "href"},
            "classes": {"get": "attribute", "attribute": "class"},
            "prices": {"selector": "span", "all": True},
        },
    }

    assert extract(step_context, teas=teas)["teas"] == [
        {"name": "Oolong", "link": "/oolong", "classes": "tea new", "prices": ["12.50"]},
        {"name": "Sencha", "link": "/sencha", "classes": "tea", "prices": ["9"]},
    ]


def test_html_is_given_as_it_stands(step_context):
    assert extract(step_context, heading={"selector": "h1 b", "get": "html"}) == {
        "heading": "<b>teas</b>"
    }


def test_an_attribute_that_an_element_lacks_is_null(step_context):
    link = {"selector": "a", "get": "attribute", "attribute": "data-id", "all": True}

    assert extract(step_context, ids=link) == {"ids": [None, "7", None]}


@pytest.mark.parametrize(
    "selector",
    [
        "li", "ul li", "ul > li", "body a", "li > a", "li + li", "li ~ li", "li.tea + li.cup > a",
        "p ~ p", "p + p", "h1 + ul span", "body ul li a", "li.cup, h1, span", "a, li", "*",
        "li:not(.tea)", "li:not(.new, .cup)", ":is(h1, title)", "li:nth-child(2)", "p:last-child",
        "a[href]", "a[href='/oolong']", "a[href^=\"/s\"]", "ul#teas", "body > *", "h1 *",
        "html body ul", "h1 ~ p", "li a ~ span",
    ],
)  # fmt: skip
def test_a_selector_finds_what_the_engine_finds_by_itself(selector):
    document = Document(PAGE)

    found = document.find(selector, document.root)

    order = {node.mem_id: place for place, node in enumerate(document.root.traverse())}
    expected = {node.mem_id for node in document.root.css(selector)}
    assert [node.mem_id for node in found] == sorted(expected, key=order.__getitem__)
    assert found


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        ("", "is empty"),
        ("a >", "is empty or incomplete"),
        ("> a", "there is no selector before '>'"),
        ("a,,b", "is empty"),
        ("a)", "closes no open bracket"),
        ("a[b", "is not closed"),
        ("a:not(b", "is not closed"),
        ("a:not(b c)", "within parentheses 'b c'"),
        ("a:not(b > c)", "within parentheses 'b > c'"),
        ("a:is(:not(b ~ c))", "within parentheses 'b ~ c'"),
        ("li:nth-child(2 of a b)", "within parentheses"),
        ("a:has(b)", "':has' is not supported"),
        ("a::before", "'::before' is not supported"),
        ("a" * 501, "at most 500 characters"),
    ],
)
def test_a_selector_that_is_not_understood_is_refused(selector, message):
    with pytest.raises(ValueError, match=message):
        taken_apart(selector)


def test_a_mistake_in_a_selector_is_told_when_publishing():
    fields = {"a": "p >", "b": {"selector": "p:has(a)"}, "c": {"get": "attribute"}}
    config = {"html": "{{ input }}", "fields": fields}

    problems = registry.specs()["data.html_extract"].check(config)

    assert problems != []
    assert all(problem.pointer[0] == "fields" for problem in problems)


def test_long_ways_through_a_deep_page_are_short(step_context):
    page = "<div>" * 500 + "<p>x</p>" * 20_000
    began = time.monotonic()

    found = extract(step_context, page, a="a div div div div div", b="a ~ p ~ p ~ p ~ p", c="div p")

    assert found == {"a": None, "b": None, "c": "x"}
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("opened", ["<svg>" + "<td>" * 600, "<b>" * 600, "<rt>" * 600])
def test_no_disguise_hides_how_deep_a_page_nests(opened):
    with pytest.raises(StepError, match="is nested too deeply"):
        Document(opened)


def test_lists_without_closing_tags_are_not_deep(step_context):
    page = "<ul>" + "<li>a<p>b<br>" * 3_000

    assert len(extract(step_context, page, a={"selector": "li", "all": True})["a"]) == 3_000


def test_what_does_not_go_together_is_refused(step_context):
    with pytest.raises(ValidationError, match="attribute requires get: attribute"):
        extract(step_context, a={"selector": "a", "attribute": "href"})
