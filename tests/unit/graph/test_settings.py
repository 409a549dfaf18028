import pytest

from executions.definition.graph.model import Limits
from executions.definition.graph.resolve import resolve
from executions.definition.graph.validation import problems
from tests.unit.graph.catalog import definition, noop, spec
from tests.unit.graph.containers import CONTAINERS, each


def found(*tasks, **settings):
    document = definition(tasks, settings=settings, variables={"n": 1})
    return {(problem.path, problem.code) for problem in problems(document, CONTAINERS)}


def of_task(task):
    return {(path.removeprefix("tasks[0]."), code) for path, code in found(task)}


def test_all_settings_can_be_published():
    assert (
        found(
            timeoutSeconds=5,
            priority=9,
            concurrency={"key": "{{ input.a }}-{{ input.b }}", "limit": 3, "onConflict": "reject"},
            onFailure={"workflow": "notify-ops"},
            checkpoint={"enabled": False, "everySteps": 1000, "onLoop": False, "onGate": False},
        )
        == set()
    )
    assert found(concurrency=None, onFailure=None, checkpoint={}) == set()
    assert found(concurrency={"key": "one at a time"}) == set()


@pytest.mark.parametrize(
    ("settings", "path", "code"),
    [
        ({"concurrency": {}}, "concurrency.key", "required"),
        ({"concurrency": {"key": 3}}, "concurrency.key", "type"),
        ({"concurrency": {"key": "a", "limit": 0}}, "concurrency.limit", "value"),
        ({"concurrency": {"key": "a", "onConflict": "wait"}}, "concurrency.onConflict", "value"),
        ({"concurrency": {"key": "{{ vars.n }}"}}, "concurrency.key", "input_only"),
        ({"concurrency": {"key": "{{ execution.id }}"}}, "concurrency.key", "input_only"),
        ({"concurrency": {"key": "{{ input. }}"}}, "concurrency.key", "template_syntax"),
        ({"onFailure": "notify"}, "onFailure", "type"),
        ({"onFailure": {"workflow": "a b"}}, "onFailure.workflow", "bad_slug"),
        ({"onFailure": {"workflow": "x" * 81}}, "onFailure.workflow", "value"),
        ({"checkpoint": None}, "checkpoint", "type"),
        ({"checkpoint": {"everySteps": 0}}, "checkpoint.everySteps", "value"),
        ({"checkpoint": {"everySteps": 1001}}, "checkpoint.everySteps", "value"),
        ({"checkpoint": {"keep": 101}}, "checkpoint.keep", "value"),
        ({"checkpoint": {"onLoop": "yes"}}, "checkpoint.onLoop", "type"),
        ({"checkpoint": {"every": 5}}, "checkpoint.every", "unknown_key"),
    ],
)
def test_a_mistake_in_the_settings_has_its_own_path_and_code(settings, path, code):
    assert found(**settings) == {(f"settings.{path}", code)}


def test_what_the_settings_leave_out_is_written_into_the_version():
    limits = Limits(checkpoint_enabled=False, checkpoint_every_steps=7, checkpoint_keep=3)
    plain = resolve(definition(), CONTAINERS)["settings"]
    given = {"concurrency": {"key": "k"}, "checkpoint": {"keep": 1}}

    assert plain == {
        "timeoutSeconds": None,
        "priority": 5,
        "concurrency": None,
        "onFailure": None,
        "compensation": "automatic",
        "checkpoint": {
            "enabled": True,
            "everySteps": 5,
            "onLoop": True,
            "onGate": True,
            "keep": 10,
        },
    }
    own = resolve(definition(settings=given), CONTAINERS, limits)["settings"]
    assert own["concurrency"] == {"key": "k", "limit": 1, "onConflict": "queue"}
    assert own["checkpoint"] == {
        "enabled": False,
        "everySteps": 7,
        "onLoop": True,
        "onGate": True,
        "keep": 1,
    }


def test_what_triggers_leave_out_is_written_into_the_version():
    triggers = [
        {"type": "CRON", "schedule": "0 2 * * *"},
        {"type": "WEBHOOK"},
        {"type": "EVENT", "event": "a"},
        {"type": "QUEUE", "queue": "q"},
    ]

    assert resolve(definition(triggers=triggers), CONTAINERS)["triggers"] == [
        {
            "type": "CRON",
            "schedule": "0 2 * * *",
            "timezone": "UTC",
            "overlap": "skip",
            "catchUp": "latest",
            "catchUpLimit": 100,
            "jitterSeconds": 0,
            "startAt": None,
            "endAt": None,
        },
        {"type": "WEBHOOK", "auth": "hmac", "respond": "accepted", "timeoutSeconds": 30},
        {"type": "EVENT", "event": "a", "filter": None},
        {"type": "QUEUE", "queue": "q", "broker": None},
    ]


@pytest.mark.parametrize(
    ("task", "path", "code"),
    [
        (noop("a", cache={"ttlSeconds": 0}), "cache.ttlSeconds", "value"),
        (noop("a", cache={"ttlSeconds": 31_536_001}), "cache.ttlSeconds", "value"),
        (noop("a", cache={"ttlSeconds": 1, "scope": "world"}), "cache.scope", "value"),
        (noop("a", cache=True), "cache", "type"),
        (each("a", noop("b")) | {"cache": {"ttlSeconds": 1}}, "cache", "not_cacheable"),
        ({"id": "a", "use": "flow.wait", "cache": {"ttlSeconds": 1}}, "cache", "not_cacheable"),
    ],
)
def test_a_result_that_cannot_be_reused_has_no_cache(task, path, code):
    assert of_task(task) == {(path, code)}


def test_a_chain_is_cached_as_a_whole_or_module_by_module():
    kept = {"ttlSeconds": 60}
    setting = {"id": "set", "use": "flow.set_variables", "with": {"values": {"n": 2}}}
    plain = {"id": "plain", "use": "flow.noop"}

    assert of_task({"id": "a", "modules": [setting, plain], "cache": kept}) == {
        ("cache", "not_cacheable")
    }
    assert of_task({"id": "a", "modules": [setting, plain | {"cache": kept}]}) == set()
    assert (
        of_task({"id": "a", "modules": [setting | {"cache": None}, plain], "cache": kept}) == set()
    )
    assert of_task({"id": "a", "modules": [setting | {"cache": kept}, plain]}) == {
        ("modules[0].cache", "not_cacheable")
    }


def test_a_module_s_own_cache_comes_before_its_task_s():
    modules = [
        {"id": "x", "use": "flow.noop"},
        {"id": "y", "use": "flow.noop", "cache": {"ttlSeconds": 5, "scope": "workspace"}},
        {"id": "z", "use": "flow.noop", "cache": None},
    ]
    task = {"id": "a", "modules": modules, "cache": {"ttlSeconds": 60}}

    [resolved] = resolve(definition([task]), CONTAINERS)["tasks"]

    assert [module["cache"] for module in resolved["modules"]] == [
        {"scope": "workflow", "ttlSeconds": 60},
        {"scope": "workspace", "ttlSeconds": 5},
        None,
    ]


@pytest.mark.parametrize(
    ("slug", "code"),
    [("ship-order", None), ("{{ input.workflow }}", None), ("a b", "bad_slug"), ("", "bad_slug")],
)
def test_a_sub_workflow_named_outright_has_a_slug(slug, code):
    task = {"id": "a", "use": "flow.subworkflow", "with": {"workflow": slug}}

    assert of_task(task) == ({("with.workflow", code)} if code else set())


def test_a_step_that_writes_with_its_record_has_no_cache_and_no_remote_queue():
    writes = {"shop.reserve": spec("shop.reserve", effect="database", inline=False)}
    given = {"id": "a", "use": "shop.reserve", "cache": {"ttlSeconds": 1}, "queue": "gpu"}

    told = problems(definition([given]), writes, Limits(remote_queues=frozenset({"gpu"})))

    assert {(problem.path, problem.code) for problem in told} == {
        ("tasks[0].cache", "not_cacheable"),
        ("tasks[0].queue", "not_remote"),
    }


@pytest.mark.parametrize(
    ("queues", "own", "place"),
    [
        (("remote", "gpu"), {}, None),
        (("gpu",), {"queue": "gpu"}, None),
        (("gpu",), {}, "use"),
        ((), {}, "use"),
        (("gpu",), {"queue": "default"}, "queue"),
        (("gpu",), {"queue": "office"}, "queue"),
    ],
)
def test_a_step_for_remote_runners_has_a_queue_that_they_serve(queues, own, place):
    remote = {"remote.step": spec("remote.step", remote=True, inline=False, queue="remote")}
    document = definition([{"id": "a", "use": "remote.step"} | own])

    told = problems(document, remote, Limits(remote_queues=frozenset(queues)))

    found = [(problem.path, problem.code) for problem in told]
    assert found == ([(f"tasks[0].{place}", "not_remote")] if place else [])
