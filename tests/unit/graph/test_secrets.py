"""The positions in which a definition may name secrets and credentials, and all others."""

from typing import Any

import pytest

from executions.definition.graph.compile import compile_graph
from executions.definition.graph.resolve import resolve
from executions.definition.graph.validation import problems
from tests.support.compiled import WORKFLOW
from tests.unit.graph.catalog import CATALOG, definition, noop, spec
from tests.unit.graph.containers import CONTAINERS

ASKING = spec("test.asks", inline=False, takes_secrets=True)
PLAIN = spec("flow.noop", takes_secrets=False)
WAITING = spec(
    "flow.wait_for_event", inline=False, waits=True, deferred=("filter",), takes_secrets=True
)
KNOWN = CATALOG | CONTAINERS | {one.type: one for one in (ASKING, PLAIN, WAITING)}
SECRET = "{{ secrets.key }}"


def asks(**more: Any) -> dict[str, Any]:
    return {"id": "a", "use": "test.asks", "with": {"deep": [{"key": f"x {SECRET}"}]}, **more}


def request(**more: Any) -> dict[str, Any]:
    return {"id": "a", "use": "http.request", "with": {"url": "x"}, **more}


def found(document: dict[str, Any]) -> set[tuple[str, str]]:
    return {(problem.path, problem.code) for problem in problems(document, KNOWN)}


def test_a_module_that_works_outside_may_have_secrets_at_any_depth() -> None:
    assert found(definition([asks()])) == set()
    body = {"id": "all", "use": "flow.map", "with": {"items": [1]}, "body": {"tasks": [asks()]}}
    assert found(definition([body])) == set()


@pytest.mark.parametrize(
    ("document", "path"),
    [
        (definition([noop("a", **{"with": {"value": SECRET}})]), "tasks[0].with.value"),
        (definition([noop("a")], output={"k": SECRET}), "output.k"),
        (
            definition(
                [
                    {
                        "id": "a",
                        "use": "flow.map",
                        "with": {"items": SECRET},
                        "body": {"tasks": [noop("b")]},
                    }
                ]
            ),
            "tasks[0].with.items",
        ),
        (
            definition(
                [
                    {
                        "id": "a",
                        "use": "flow.loop",
                        "with": {"until": SECRET},
                        "body": {"tasks": [noop("b")]},
                    }
                ]
            ),
            "tasks[0].with.until",
        ),
        (
            definition(
                [{"id": "a", "use": "flow.wait_for_event", "with": {"filter": SECRET}}],
            ),
            "tasks[0].with.filter",
        ),
    ],
)
def test_a_secret_is_refused_where_it_would_be_stored_or_shown(
    document: dict[str, Any], path: str
) -> None:
    assert (path, "secret_here") in found(document)


def test_a_secret_is_no_part_of_keys_filters_and_defaults() -> None:
    document = definition(
        [noop("a")],
        variables={"k": SECRET},
        settings={"concurrency": {"key": SECRET}},
        triggers=[{"type": "EVENT", "event": "e", "filter": SECRET}],
    )

    assert found(document) == {
        ("variables.k", "template_not_allowed"),
        ("settings.concurrency.key", "input_only"),
        ("triggers[0].filter", "event_only"),
    }


def test_what_secrets_gave_access_to_is_not_kept_for_others() -> None:
    cache = {"ttlSeconds": 60}

    assert found(definition([asks(cache=cache)])) == {("tasks[0].cache", "not_cacheable")}
    assert found(definition([request(credential="shop", cache=cache)])) == {
        ("tasks[0].cache", "not_cacheable")
    }
    assert found(definition([request(cache=cache)])) == set()


def test_a_credential_stands_beside_a_module_that_takes_one() -> None:
    assert found(definition([request(credential="shop")])) == set()
    assert found(definition([asks(credential="shop")])) == {
        ("tasks[0].credential", "no_credential")
    }
    chain = {
        "id": "a",
        "modules": [{"id": "m", "use": "http.request", "with": {"url": "x"}, "credential": "shop"}],
    }
    assert found(definition([chain])) == set()
    assert found(definition([chain | {"credential": "shop"}])) == {
        ("tasks[0].credential", "conflict")
    }


def test_a_step_knows_its_secrets_and_its_credential() -> None:
    document = definition([request(credential="shop"), asks() | {"id": "b"}, noop("c")])

    first, second, third = compile_graph(resolve(document, KNOWN), WORKFLOW).steps

    assert (first.credential, first.secrets) == ("shop", frozenset())
    assert (second.credential, second.secrets) == ("", {("key", "value")})
    assert (third.credential, third.secrets) == ("", frozenset())


def test_another_credential_is_another_config() -> None:
    def hashed(**more: Any) -> str:
        resolved = resolve(definition([request(**more)]), KNOWN)
        return compile_graph(resolved, WORKFLOW).steps[0].config_hash

    assert len({hashed(), hashed(credential="shop"), hashed(credential="bank")}) == 3
