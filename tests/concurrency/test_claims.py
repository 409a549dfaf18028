"""Races for one run: claims, late results, take-overs. Each race is observed."""

import pytest
from django.db import transaction

from executions import lifecycle
from runners import statements
from runners.errors import LeaseLost
from runners.pipeline import claim_run
from runners.recovery.sweeper import leases
from tests.support.auditor import audit
from tests.support.rivals import Rivals, my_session, wait_until_blocked
from tests.support.segments import claimed, lease_runs_out, recorded, run_of, seen
from tests.support.single_thread import World
from tests.support.workflows import ACTOR, effect, publish, start, states

TWO = {"tasks": [effect("one"), effect("two", after="one")]}


def test_of_two_workers_with_one_message_only_one_claims(queue: World, rivals: Rivals) -> None:
    execution = start(publish(TWO))
    mine, theirs = seen(execution, "one.main"), seen(execution, "one.main")
    with transaction.atomic():
        assert claim_run.claim(*mine) is not None
        other = rivals.begin(claim_run.claim, *theirs)
        wait_until_blocked(my_session())
    assert other.result(60) is None
    assert run_of(execution, "one.main").lease_token == 1


def test_a_message_that_comes_again_finds_the_step_held(queue: World) -> None:
    execution = start(publish(TWO))
    claimed(execution, "one.main")
    assert claim_run.claim(*seen(execution, "one.main")) is None


def test_a_stale_holder_cannot_record(queue: World, rivals: Rivals) -> None:
    execution = start(publish({"tasks": [effect("one")]}))
    stale = claimed(execution, "one.main")
    lease_runs_out(stale[1].run_id)
    fresh = claimed(execution, "one.main")
    with transaction.atomic():
        recorded(fresh)
        late = rivals.begin(recorded, stale)
        wait_until_blocked(my_session())
    with pytest.raises(LeaseLost):
        late.result(60)
    run = run_of(execution, "one.main")
    assert (run.state, run.lease_token, run.attempt) == ("SUCCESS", fresh[1].token, 1)
    assert audit([execution]).repeats == 1


def test_a_stale_holder_cannot_record_before_the_new_one_is_done(queue: World) -> None:
    execution = start(publish(TWO))
    stale = claimed(execution, "one.main")
    lease_runs_out(stale[1].run_id)
    fresh = claimed(execution, "one.main")
    with pytest.raises(LeaseLost):
        recorded(stale)
    assert run_of(execution, "one.main").state == "RUNNING"
    assert recorded(fresh) is not None


def test_a_lease_that_runs_out_while_its_result_is_recorded_is_not_released(
    queue: World, rivals: Rivals
) -> None:
    execution = start(publish(TWO))
    held = claimed(execution, "one.main")
    lease_runs_out(held[1].run_id)
    with transaction.atomic():
        recorded(held)
        sweep = rivals.begin(leases.expired_leases)
        wait_until_blocked(my_session())
    sweep.result(60)
    run = run_of(execution, "one.main")
    assert (run.state, run.lease_token) == ("SUCCESS", 1)


def test_a_heartbeat_with_an_old_token_renews_nothing(queue: World) -> None:
    execution = start(publish(TWO))
    stale = claimed(execution, "one.main")
    lease_runs_out(stale[1].run_id)
    fresh = claimed(execution, "one.main")

    def renewed(token: int) -> list[object]:
        own = {"executions": [execution], "runs": [stale[1].run_id]}
        beat = {**own, "tokens": [token], "details": [None]}
        return list(statements.fetch("renew", {**beat, "lease": 20, "grace": 2}))

    assert renewed(stale[1].token) == []
    assert renewed(fresh[1].token) == [(fresh[1].run_id,)]


def test_a_claim_does_not_slip_past_a_cancel(queue: World, rivals: Rivals) -> None:
    execution = start(publish(TWO))
    with transaction.atomic():
        lifecycle.cancel(execution, actor=ACTOR)
        claim = rivals.begin(claim_run.claim, *_seen_outside(rivals, execution))
        wait_until_blocked(my_session())
    assert claim.result(60) is None
    assert run_of(execution, "one.main").state == "CANCELLED"


def test_a_cancel_waits_for_a_claim_and_then_fences_it(queue: World, rivals: Rivals) -> None:
    execution = start(publish(TWO))
    with transaction.atomic():
        held = claimed(execution, "one.main")
        cancel = rivals.begin(lifecycle.cancel, execution, actor=ACTOR)
        wait_until_blocked(my_session())
    cancel.result(60)
    with pytest.raises(LeaseLost):
        recorded(held)
    assert states([execution])[execution] == "CANCELLED"
    audit([execution])


def _seen_outside(rivals: Rivals, execution: object) -> object:
    """Return what another session sees during the open transaction."""
    return rivals.begin(seen, execution, "one.main").result(60)
