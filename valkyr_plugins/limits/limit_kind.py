"""Create, change and delete limits, with an audit entry. Only this module writes them.

Quotas and budgets are both limits of a workspace, or of a member. They differ in their values and
checks.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar
from uuid import UUID

from django.db import IntegrityError

from executions.public.access import Actor, record
from executions.public.database import database_now, transaction
from executions.public.definitions import DefinitionProblem
from executions.public.errors import NotFound, Taken, WithProblems
from executions.public.models import Membership, Workspace
from valkyr_plugins.limits.models import SpenderLimit

L = TypeVar("L", bound=SpenderLimit)


class LimitExists(Taken):
    """This limit already exists. Change it instead."""


class LimitRefused(WithProblems):
    """The values of the limit are invalid or contradictory."""


class LimitKind(ABC, Generic[L]):
    """A kind of limit: its values, their checks, and the functions that write it.

    `noun` is its name for people and in the audit trail. `changeable` are the fields that may
    change later. `members_only` is the error for a user who is not a member.
    """

    model: type[L]
    noun: ClassVar[str]
    changeable: ClassVar[tuple[str, ...]]
    refused: ClassVar[type[LimitRefused]]
    exists: ClassVar[type[LimitExists]]
    members_only: ClassVar[str]

    @abstractmethod
    def check(self, limit: L) -> None:
        """Raise `refused` for an invalid limit."""

    @abstractmethod
    def facts(self, limit: L) -> dict[str, Any]:
        """Return a limit's values for the audit trail."""

    @abstractmethod
    def already(self, limit: L, whose: str) -> str:
        """Return the error text for a limit that already exists."""

    def changed(self, limit: L) -> None:
        """React to a change of a limit, in the same transaction; by default, do nothing."""

    def create(
        self, workspace: Workspace, facts: Mapping[str, Any], *, user_id: Any, actor: Actor
    ) -> L:
        """Create a limit of a workspace, or of a member. Raises `refused` or `exists`."""
        limit = self.model(workspace=workspace, user_id=user_id, created_at=database_now(), **facts)
        self.check(limit)
        if user_id is not None and not _is_member(workspace, user_id):
            what = f"{user_id} is not a member of {workspace.slug!r}."
            problem = DefinitionProblem("userId", "no_member", what)
            raise self.refused(self.members_only, [problem])
        try:
            with transaction.atomic():
                limit.save(force_insert=True)
                self._audit(actor, "create", limit, after=self.facts(limit))
        except IntegrityError:
            whose = "the workspace" if user_id is None else f"user {user_id}"
            raise self.exists(self.already(limit, whose)) from None
        return limit

    def change(self, limit_id: UUID, changes: Mapping[str, Any], *, actor: Actor) -> L:
        """Change `changeable` fields of a limit, effective immediately.

        Raises NotFound or `refused`.
        """
        with transaction.atomic():
            limit = self._locked(limit_id)
            before = self.facts(limit)
            for name, value in changes.items():
                setattr(limit, name, value)
            self.check(limit)
            if self.facts(limit) != before:
                limit.save(update_fields=self.changeable)
                self.changed(limit)
                self._audit(actor, "update", limit, before=before, after=self.facts(limit))
        return limit

    def delete(self, limit_id: UUID, *, actor: Actor, reason: str = "") -> None:
        """Delete a limit. Raises NotFound."""
        with transaction.atomic():
            limit = self._locked(limit_id)
            self._audit(actor, "delete", limit, before=self.facts(limit), reason=reason)
            limit.delete()

    def _locked(self, limit_id: UUID) -> L:
        rows = self.model._default_manager.select_for_update(no_key=True, of=("self",))
        limit = rows.select_related("user", "workspace").filter(pk=limit_id).first()
        if limit is None:
            raise NotFound(f"There is no {self.noun} {limit_id}.")
        return limit

    def _audit(self, actor: Actor, verb: str, limit: L, **what: Any) -> None:
        record(
            actor,
            f"{self.noun}.{verb}",
            workspace_id=limit.workspace_id,
            object_type=self.model.__name__,
            object_id=limit.pk,
            **what,
        )


def _is_member(workspace: Workspace, user_id: Any) -> bool:
    return Membership.objects.filter(workspace=workspace, user_id=user_id).exists()
