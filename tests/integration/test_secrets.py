"""Steps that use secrets: rows hold references, modules get values, and results are scrubbed."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from dlq.models import DeadLetterEntry
from dlq.resolve.requeue import requeue
from executions import credentials
from executions.errors import InvalidDefinition
from executions.models import Credential, CredentialUse, WorkflowExecution, Workspace
from runners.models import Run
from tests.support import gossip
from tests.support.engine_database import engine_database
from tests.support.segments import claimed, recorded, run_of
from tests.support.single_thread import World, world
from tests.support.workflows import ACTOR, default_workspace, effect, publish, start, states, task
from valkyr_plugins.timetravel.fork import replay
from valkyr_plugins.timetravel.verify import verify

KEY = "sk_live_4eC39HqLyjWDarjtT1"
PASSWORD = "s'cret/+ &pass"
FIELDS = {"username": "shopkeeper", "password": PASSWORD}
SAID = f"[secret:key] {dict(FIELDS)}"


@pytest.fixture(scope="module")
def engine(
    django_db_setup: None, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Iterator[None]:
    with engine_database(django_db_blocker, keep=request.config.getvalue("reuse_db")):
        gossip.register()
        yield


@pytest.fixture
def queue(engine: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with world(Random(0), monkeypatch, lose=0, double=0, die=0) as quiet:
        yield quiet


@pytest.fixture
def workspace(engine: None) -> Iterator[Workspace]:
    """Yield the default workspace, with a secret `key` and a credential `shop`."""
    home = default_workspace()
    anywhere: Any = {"hosts": ["*"], "actor": ACTOR}
    credentials.create(home, name="key", type="secret", fields={"value": KEY}, **anywhere)
    credentials.create(home, name="shop", type="basic", fields=FIELDS, **anywhere)
    gossip.heard.clear()
    yield home
    Credential.objects.all().delete()


def tells(*ways: str, value: str = "{{ secrets.key }}", **more: Any) -> dict[str, Any]:
    given = {"value": value, "ways": list(ways)}
    return task("tell", "test.gossip", **({"with": given, "retry": "none"} | more))


def ended(queue: World, *tasks: dict[str, Any], payload: Any = None) -> UUID:
    execution = start(publish({"tasks": list(tasks)}), payload)
    queue.drain()
    return execution


def everything_stored() -> str:
    """Return every row of every table, as text."""
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        rows = []
        for table in tables:
            cursor.execute(f'SELECT "{table}"::text FROM "{table}"')
            rows += [row[0] for row in cursor.fetchall()]
    return "\n".join(rows)


def test_a_step_gets_the_value_and_its_row_the_reference(
    queue: World, workspace: Workspace
) -> None:
    execution = ended(queue, tells(value="Bearer {{ secrets.key }}", credential="shop"))

    run = run_of(execution, "tell.main")
    assert run.state == "SUCCESS"
    assert gossip.heard == [(f"Bearer {KEY}", FIELDS)]
    assert run.inputs == {"value": "Bearer [secret:key]", "ways": []}
    assert isinstance(run.outputs, dict)
    assert run.outputs["text"] == (
        "Bearer [secret:key] {'username': '[secret:shop.username]', "
        "'password': \"[secret:shop.password]\"}"
    )


def test_what_a_later_step_reads_is_the_reference(queue: World, workspace: Workspace) -> None:
    then = effect("then", after="tell", value="{{ tasks.tell.output.text }}")

    execution = ended(queue, tells(), then)

    assert run_of(execution, "then.main").outputs == "[secret:key] None"


@pytest.mark.parametrize("ways", [["log"], ["tell"], ["raise"], ["cause"], ["again"], ["wait"]])
def test_whatever_a_step_tells_nothing_stored_holds_the_secret(
    queue: World,
    workspace: Workspace,
    ways: list[str],
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    execution = start(publish({"tasks": [tells("log", "tell", *ways, credential="shop")]}))
    queue.drain_with_retries(execution)

    assert gossip.heard[0] == (KEY, FIELDS)
    stored = everything_stored() + caplog.text
    assert KEY in capsys.readouterr().out, "what a module prints is not ours to see here"
    for form in (KEY, PASSWORD, json.dumps(PASSWORD)[1:-1], KEY.encode().hex()):
        assert form not in stored
    assert "[secret:key]" in stored
    assert "[secret:shop.password]" in stored


def test_a_failure_says_what_happened_without_the_secret(
    queue: World, workspace: Workspace
) -> None:
    execution = ended(queue, tells("cause"))

    run = run_of(execution, "tell.main")
    assert run.error == "refused [secret:key] None"
    details: Any = run.error_details
    assert details["details"] == {"sent": "[secret:key] None"}
    letter = DeadLetterEntry.objects.get(execution_id=execution)
    assert "[secret:key]" in letter.failure_reason


def test_every_attempt_has_the_same_key_and_the_value_of_its_time(
    queue: World, workspace: Workspace
) -> None:
    retry = {"maxAttempts": 2, "baseSeconds": 0.1, "maxSeconds": 0.1}
    execution = start(publish({"tasks": [tells("again", retry=retry)]}))
    queue.drain()
    key = Credential.objects.get(name="key")
    credentials.update(key.pk, actor=ACTOR, fields={"value": "another-value"})
    queue.drain_with_retries(execution)

    keys = Run.objects.filter(execution_id=execution).values_list("idempotency_key", flat=True)
    assert len(keys) == 2
    assert len(set(keys)) == 1
    assert [value for value, _ in gossip.heard] == [KEY, "another-value"]


def test_a_woken_step_gets_its_secrets_again(queue: World, workspace: Workspace) -> None:
    execution = start(
        publish({"tasks": [tells("wait", value="{{ input.n }}: {{ secrets.key }}")]}), {"n": 1}
    )
    queue.drain_with_retries(execution)

    assert states([execution])[execution] == "SUCCESS"
    assert gossip.heard == [(f"1: {KEY}", None)] * 2
    assert run_of(execution, "tell.main").progress == {
        "value": "1: [secret:key]",
        "1: [secret:key] None": 1,
    }


def test_a_wait_under_a_secret_name_is_refused(queue: World, workspace: Workspace) -> None:
    execution = ended(queue, tells("key"))

    assert "waits for a name that contains a secret" in run_of(execution, "tell.main").error
    assert KEY not in everything_stored()


def test_a_payload_cannot_forge_a_reference(queue: World, workspace: Workspace) -> None:
    value = "{{ input.note }} and {{ secrets.key }}"

    ended(queue, tells(value=value), payload={"note": "[secret:key] {{ secrets.key }}"})

    assert gossip.heard == [(f"[secret:key] {{{{ secrets.key }}}} and {KEY}", None)]


def test_the_hash_and_the_key_stay_when_the_value_changes(
    queue: World, workspace: Workspace
) -> None:
    first = ended(queue, tells("raise"))
    key = Credential.objects.get(name="key")
    credentials.update(key.pk, actor=ACTOR, fields={"value": "another-value"})

    entry = DeadLetterEntry.objects.get(execution_id=first)
    requeue(entry.pk, actor=ACTOR, overrides={"ways": []})
    queue.drain()

    before, after = Run.objects.filter(execution_id=first).order_by("attempt")
    assert gossip.heard == [(KEY, None), ("another-value", None)]
    assert before.inputs_hash != after.inputs_hash, "an override changes the inputs"
    assert after.inputs == {"value": "[secret:key]", "ways": []}
    second = ended(queue, tells())
    assert run_of(second, "tell.main").inputs_hash == after.inputs_hash
    assert "another-value" not in everything_stored()


def test_a_missing_credential_or_field_is_named_and_not_tried_again(
    queue: World, workspace: Workspace
) -> None:
    # Published while they exist; deleted when the steps run.
    for name in ("nobody", "bank"):
        credentials.create(
            workspace, name=name, type="secret", fields={"value": KEY}, hosts=["*"], actor=ACTOR
        )
    begun = [
        start(publish({"tasks": [step]}))
        for step in (
            tells(value="{{ secrets.nobody }}"),
            tells(value="{{ secrets.shop.token }}"),
            tells(value="x", credential="bank"),
        )
    ]
    Credential.objects.filter(name__in=["nobody", "bank"]).delete()
    queue.drain()
    nothing, field, own = begun

    assert [run_of(one, "tell.main").error_type for one in (nothing, field, own)] == [
        "PERMANENT"
    ] * 3
    assert run_of(nothing, "tell.main").error == (
        'Step tell.main of workflow "tested" needs the credential "nobody", which its workspace '
        "does not have. Create it, then requeue the step."
    )
    assert run_of(field, "tell.main").error == (
        'Step tell.main of workflow "tested" needs the field "token" of the credential "shop", '
        "which has only: password, username. Add it, or name another field."
    )
    assert '"bank"' in run_of(own, "tell.main").error
    assert gossip.heard == []


def test_another_workspaces_credential_is_none_of_ours(queue: World, workspace: Workspace) -> None:
    other = Workspace.objects.create(slug="other", name="Other", tier=workspace.tier)
    credentials.create(
        other,
        name="theirs",
        type="secret",
        fields={"value": KEY},
        hosts=["*"],
        actor=ACTOR,
    )

    with pytest.raises(InvalidDefinition) as refused:
        publish({"tasks": [tells(value="{{ secrets.theirs }}")]})
    assert [each.code for each in refused.value.problems] == ["unknown_credential"]

    # Published while one of this name existed here.
    ours = credentials.create(
        workspace, name="theirs", type="secret", fields={"value": KEY}, hosts=["*"], actor=ACTOR
    )
    execution = start(publish({"tasks": [tells(value="{{ secrets.theirs }}")]}))
    Credential.objects.filter(pk=ours.pk).delete()
    queue.drain()

    assert '"theirs", which its workspace does not have' in run_of(execution, "tell.main").error


@pytest.mark.parametrize(
    ("overrides", "heard"),
    [
        ({"value": "by hand"}, "by hand"),
        ({"value": "Bearer [secret:key]"}, f"Bearer {KEY}"),
        ({"value": "{{ secrets.shop.password }}"}, "{{ secrets.shop.password }}"),
        ({"value": "[secret:key]"}, None),
        ({"value": ["Bearer [secret:key]"]}, None),
        ({"value": "[secret:shop.password]"}, "[secret:shop.password]"),
    ],
)
def test_an_override_keeps_a_secret_but_brings_none(
    queue: World, workspace: Workspace, overrides: Any, heard: str | None
) -> None:
    execution = ended(queue, tells("raise", value="Bearer {{ secrets.key }}"))
    entry = DeadLetterEntry.objects.get(execution_id=execution)
    gossip.heard.clear()

    requeue(entry.pk, actor=ACTOR, overrides={"ways": []} | overrides)
    queue.drain()

    run = run_of(execution, "tell.main")
    assert gossip.heard == ([] if heard is None else [(heard, None)])
    assert run.state == ("DLQ" if heard is None else "SUCCESS")
    if heard is None:
        assert "was changed, so" in run.error


def test_a_replay_verifies_by_references(queue: World, workspace: Workspace) -> None:
    execution = ended(queue, tells(credential="shop"), effect("then", after="tell"))
    credentials.update(
        Credential.objects.get(name="key").pk, actor=ACTOR, fields={"value": "another-value"}
    )

    found = verify(execution)
    again = replay(execution, actor=ACTOR)
    queue.drain()

    assert (found.differences, found.steps) == ([], 2)
    assert states([again.pk])[again.pk] == "SUCCESS"


def test_secrets_are_read_only_by_the_statement_that_records_their_use(
    queue: World, workspace: Workspace
) -> None:
    document = {"tasks": [tells(value="{{ secrets.key }} {{ secrets.shop.password }}"),
                          effect("then", after="tell")]}  # fmt: skip
    for _ in range(2):  # the second time, all caches are filled
        execution = start(publish(document))
        held = claimed(execution, "tell.main")
        with CaptureQueriesContext(
            connection,
        ) as queries:
            work = recorded(held)
            assert work is not None
            recorded((held[0], work))

    reads = [one["sql"] for one in queries if "executions_credential" in one["sql"]]
    assert reads == []
    uses = CredentialUse.objects.filter(execution_id=execution)
    assert sorted(uses.values_list("name", "step_path")) == [
        ("key", "tell.main"),
        ("shop", "tell.main"),
    ]


def test_a_value_that_does_not_open_fails_the_step_and_shows_nothing(
    queue: World, workspace: Workspace
) -> None:
    Credential.objects.filter(name="key").update(sealed=Credential.objects.get(name="shop").sealed)

    execution = ended(queue, tells())

    run = run_of(execution, "tell.main")
    assert (run.state, run.error_type) == ("DLQ", "PERMANENT")
    assert gossip.heard == []


def test_secrets_reach_steps_in_bodies(queue: World, workspace: Workspace) -> None:
    body = task(
        "each",
        "flow.map",
        **{"with": {"items": "{{ input.items }}"}},
        body={"tasks": [tells(value="{{ item }} {{ secrets.key }}")]},
    )

    execution = ended(queue, body, payload={"items": ["a", "b"]})

    assert states([execution])[execution] == "SUCCESS"
    assert sorted(value for value, _ in gossip.heard) == [f"a {KEY}", f"b {KEY}"]
    assert KEY not in json.dumps(
        list(WorkflowExecution.objects.filter(pk=execution).values_list("output", flat=True))
    )
