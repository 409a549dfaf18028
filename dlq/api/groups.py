"""Failure groups over HTTP: list, read, triage, merge and split them."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from dlq.api.entry_query import in_time
from dlq.api.group_shapes import (
    ORDERS,
    FailureGroupDetail,
    FailureGroupSummary,
    GroupChange,
    GroupChangeMany,
    GroupQuery,
    MergeBody,
    NewNote,
    NoteShape,
    PartShape,
    SplitBody,
    UnmergeBody,
)
from dlq.groups import merging, operations
from dlq.groups.facets import breakdown
from dlq.groups.labelled import labelled
from dlq.models import DeadLetterEntry, FailureGroup, GroupStatus
from executions import addresses
from executions.access import Action, obtain, visible
from executions.access.actor import Actor
from executions.access.operation import Operation
from executions.api.bulk import ManyDone, each
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.paging import narrowed, page
from executions.database import transaction
from executions.database.clock import database_now

MOVES = {
    GroupStatus.NEW: operations.REOPEN,
    GroupStatus.ACKNOWLEDGED: operations.ACKNOWLEDGE,
    GroupStatus.SNOOZED: operations.SNOOZE,
    GroupStatus.RESOLVED: operations.RESOLVE,
    GroupStatus.IGNORED: operations.IGNORE,
}


def _asked(given: Mapping[str, Any]) -> Iterator[tuple[Operation, dict[str, Any]]]:
    """Yield the operations that a request's body asks for, each with its data."""
    if "status" in given:
        to = GroupStatus(given["status"])
        yield (
            MOVES[to],
            {
                "until": given.get("snoozeUntil"),
                "total": given.get("snoozeTotal"),
                "version": given.get(
                    "snoozeVersion" if to is GroupStatus.SNOOZED else "resolvedIn"
                ),
            },
        )
    if "ownerId" in given:
        yield operations.ASSIGN, {"owner": given["ownerId"]}
    if "muted" in given:
        yield operations.MUTE if given["muted"] else operations.UNMUTE, {}


@transaction.atomic
def _change(group_id: UUID, actor: Actor, given: Mapping[str, Any]) -> None:
    """Make all changes that the body requests, or none. Raises the errors of the operations."""
    for asked, data in _asked(given):
        asked.apply(group_id, actor, data | {"reason": given["reason"]})


CHANGE = Operation(name="change", apply=_change)
TAG = "FailureGroup"
FILTERS = {
    "workflowId": "workflow_id",
    "status": "status",
    "ownerId": "owner_id",
    "module": "module",
    "exception": "exception",
    "seenAfter": "last_seen__gt",
}
SHOWN_DAYS = timedelta(days=7)
MOST_SHOWN = 100


def groups() -> QuerySet[FailureGroup]:
    """Return all failure groups, each with its owner."""
    return FailureGroup.objects.select_related("owner")


def shown(group: FailureGroup, status: int = 200) -> Response:
    """Return a response with all fields of a group and, if `status` is above 200, its URL."""
    since = database_now() - SHOWN_DAYS
    context = {
        "moving": group.moves.exists() or group.arrivals.exists(),
        "hours": group.hours.filter(hour__gte=since).order_by("hour"),
        "versions": group.versions.order_by("-number")[:MOST_SHOWN],
        "notes": reversed(group.notes.order_by("-id")[:MOST_SHOWN]),
        "breakdown": breakdown(group.pk),
        "fingerprints": group.fingerprints.order_by("id")[:MOST_SHOWN],
    }
    headers = {"Location": addresses.api("failure-group", group.pk)} if status > 200 else {}
    return Response(FailureGroupDetail(group, context=context).data, status, headers=headers)


class Groups(Endpoint):
    """The endpoint that lists failure groups."""

    @operation(
        "listFailureGroups", TAG, {200: FailureGroupSummary(many=True)}, parameters=[GroupQuery]
    )
    def get(self, request: Request) -> Response:
        """List the failure groups of your workspaces, except merged ones."""
        query = self.query(GroupQuery)
        rows = narrowed(visible(self.user, groups()), query, FILTERS).filter(merged_into=None)
        if "text" in query:
            text = query["text"]
            rows = rows.filter(Q(message__icontains=text) | Q(sample__icontains=text))
        if "label" in query:
            rows = self._labelled(rows, query)
        found = page(request, rows, query, order=(ORDERS[query["order"]], "id"))
        return Response(FailureGroupSummary(found.rows, many=True).data, headers=found.headers)

    def _labelled(
        self, rows: QuerySet[FailureGroup], query: Mapping[str, Any]
    ) -> QuerySet[FailureGroup]:
        seen = visible(self.user, DeadLetterEntry.objects.all())
        letters = narrowed(seen, query, {"workflowId": "workflow_id"})
        with in_time():
            return labelled(rows, query["label"], letters)


class OneGroup(Endpoint):
    """The endpoint that returns and changes one failure group."""

    @operation("getFailureGroup", TAG, {200: FailureGroupDetail}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Return one group with its hours, versions, notes, fingerprints and counts per facet."""
        group, _ = obtain(self.user, groups(), id, Action.VIEW)
        return shown(group)

    @operation(
        "patchFailureGroup",
        TAG,
        {200: FailureGroupDetail},
        request=GroupChange,
        errors=[403, 404, 409],
    )
    def patch(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Change a group's status, its owner, or whether it raises alerts."""
        self.perform(CHANGE, groups(), id, GroupChange)
        return shown(self._again(id))

    def _again(self, pk: UUID) -> FailureGroup:
        return obtain(self.user, groups(), pk, Action.OPERATE)[0]


class ChangeGroups(Endpoint):
    """The endpoint that changes many failure groups."""

    @operation("changeFailureGroups", TAG, {200: ManyDone}, request=GroupChangeMany)
    def post(self, request: Request) -> Response:
        """Make the same change in each group; an error in one group does not stop the others."""
        given = self.body(GroupChangeMany)
        return each(self.user, FailureGroup.objects.all(), CHANGE, self.actor, given)


class GroupNotes(Endpoint):
    """The endpoint that adds notes to a failure group."""

    @operation(
        "noteFailureGroup",
        TAG,
        {201: NoteShape},
        request=NewNote,
        errors=[403, 404, 409],
        idempotent=True,
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Add a note to a failure group."""
        note, _ = self.perform(operations.NOTE, groups(), id, NewNote)
        return Response(NoteShape(note).data, 201)


class MergeGroups(Endpoint):
    """The endpoint that merges several failure groups into one."""

    @operation(
        "mergeFailureGroups",
        TAG,
        {200: FailureGroupDetail},
        request=MergeBody,
        errors=[403, 404, 409],
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Merge other groups, their past and future failures, and their notes into this group."""
        obtain(self.user, groups(), id, Action.OPERATE)
        given = self.body(MergeBody)
        for pk in given["ids"]:
            obtain(self.user, groups(), pk, Action.OPERATE)
        merging.merge(id, given["ids"], actor=self.actor, reason=given["reason"])
        return shown(obtain(self.user, groups(), id, Action.OPERATE)[0])


class UnmergeGroup(Endpoint):
    """The endpoint that moves a fingerprint out of a group."""

    @operation(
        "unmergeFailureGroup",
        TAG,
        {201: FailureGroupDetail},
        request=UnmergeBody,
        errors=[403, 404, 409],
        idempotent=True,
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Move a fingerprint of the group to a separate group, and return the new group."""
        obtain(self.user, groups(), id, Action.OPERATE)
        given = self.body(UnmergeBody)
        made = merging.unmerge(id, given["fingerprint"], actor=self.actor, reason=given["reason"])
        return shown(made, 201)


class SplitGroup(Endpoint):
    """The endpoint that splits a failure group by a facet."""

    @operation(
        "splitFailureGroup",
        TAG,
        {201: PartShape(many=True)},
        request=SplitBody,
        errors=[403, 404, 409],
        idempotent=True,
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Split a group by a facet, past failures too; the group keeps the most frequent value.

        At most 50 values are allowed. New values get groups, up to 100; further values stay here.
        """
        parts, _ = self.perform(operations.SPLIT, groups(), id, SplitBody)
        return Response(PartShape(parts, many=True).data, 201)
