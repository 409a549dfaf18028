"""Callers: a header that signs in, and texts that no answer to that caller may contain."""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth import get_user_model

from executions.access import grants
from executions.access.actor import Actor
from executions.accounts.tokens import create_token
from executions.models import Membership, Workflow, Workspace
from tests.fuzz.planted import Planted, Planter, payload_mark
from tests.support.signed_in import bearer

HERE, THERE = "canaryhere", "canarythere"
OPEN, CLOSED, FAR = "canaryopen", "canaryclosed", "canaryfar"
ROLES = ("ADMIN", "WORKFLOW", "SYSTEM", "READER", "TOKEN", "NOBODY", "ELSEWHERE", "STRANGER")


@dataclass(frozen=True)
class World:
    """Two workspaces; one has two workflows, one of which is shared with the reader."""

    here: Planter
    there: Planter
    open: Planted
    closed: Planted
    far: Planted


@dataclass(frozen=True)
class Caller:
    """A role's header, and the marks and ids that no answer to it may contain."""

    role: str
    authorization: str
    marks: tuple[str, ...]
    ids: frozenset[str]


def plant() -> World:
    """Create the workspaces and rows that the fuzz tests request."""
    here, there = Planter(HERE), Planter(THERE)
    return World(here, there, here.workflow(OPEN), here.workflow(CLOSED), there.workflow(FAR))


def caller(world: World, role: str) -> Caller:
    """Return a user with that role."""
    here, there = world.here.planted.every(), world.there.planted.every()
    all_of_here = (HERE, OPEN, CLOSED)
    all_of_there = (THERE, FAR)
    marks, ids = {
        "ADMIN": (all_of_there, there),
        "WORKFLOW": (all_of_there, there),
        "SYSTEM": ((*all_of_there, payload_mark(OPEN), payload_mark(CLOSED)), there),
        "READER": ((*all_of_there, CLOSED, payload_mark(OPEN)), there | world.closed.every()),
        "TOKEN": ((*all_of_there, payload_mark(OPEN), payload_mark(CLOSED)), there),
        "NOBODY": ((*all_of_there, *all_of_here), there | here),
        "ELSEWHERE": (all_of_here, here),
        "STRANGER": ((*all_of_there, *all_of_here), there | here),
    }[role]
    return Caller(role, _authorization(world, role), tuple(marks), frozenset(ids))


def _authorization(world: World, role: str) -> str:
    if role == "STRANGER":
        return ""
    user: Any = get_user_model().objects.create_user(f"fuzz-{role.lower()}")
    here: Workspace = world.here.workspace
    if role == "TOKEN":
        Membership.objects.create(user=user, workspace=here, role="ADMIN")
        Membership.objects.create(user=user, workspace=world.there.workspace, role="ADMIN")
        scopes = ["view", "trigger", "operate"]
        _, text = create_token(
            here, user, name="few", maker=user, actor=Actor.of(user), scopes=scopes
        )
        return f"Bearer {text}"
    if role == "READER":
        Membership.objects.create(user=user, workspace=here, role="USER")
        workflow = Workflow.objects.get(pk=world.open.ids["Workflow"][0])
        grants.give(workflow, ["READ"], actor=Actor.of(user), username=user.get_username())
    elif role == "ELSEWHERE":
        Membership.objects.create(user=user, workspace=world.there.workspace, role="ADMIN")
    elif role != "NOBODY":
        Membership.objects.create(user=user, workspace=here, role=role)
    return bearer(user)
