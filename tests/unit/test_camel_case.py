"""Fields are declared in snake_case; JSON and errors use camelCase."""

from types import SimpleNamespace
from typing import Any

from rest_framework import serializers

from executions.api.fields import Body, CamelCaseSerializer, Flat


class Inner(CamelCaseSerializer):
    started_at = serializers.CharField()


class Outer(CamelCaseSerializer):
    """Declared with Python's names."""

    as_declared = frozenset({"token_type"})

    first_run = Inner()
    workflow_name = serializers.CharField(source="workflow.name")
    run_count = serializers.SerializerMethodField()
    token_type = serializers.CharField()
    plain = serializers.CharField()

    def get_run_count(self, _: Any) -> int:
        return 3


class Asked(Body):
    most_runs = serializers.IntegerField(max_value=5)


class Quick(Flat):
    trace_id = serializers.CharField()


def test_an_object_is_sent_in_camel_case() -> None:
    given = SimpleNamespace(
        first_run=SimpleNamespace(started_at="now"),
        workflow=SimpleNamespace(name="orders"),
        token_type="bearer",
        plain="p",
    )
    assert Outer(given).data == {
        "firstRun": {"startedAt": "now"},
        "workflowName": "orders",
        "runCount": 3,
        "token_type": "bearer",
        "plain": "p",
    }
    assert Quick(SimpleNamespace(trace_id="t")).data == {"traceId": "t"}
    assert Quick(SimpleNamespace(trace_id="u")).data == {"traceId": "u"}


def test_a_body_is_read_into_snake_case() -> None:
    body = Asked(data={"mostRuns": 4})
    assert body.is_valid()
    assert body.validated_data == {"most_runs": 4}


def test_errors_name_the_json_member() -> None:
    for given, expected in (({"mostRuns": 6}, "mostRuns"), ({"most_runs": 4}, "most_runs")):
        body = Asked(data=given)
        assert not body.is_valid()
        assert expected in body.errors
