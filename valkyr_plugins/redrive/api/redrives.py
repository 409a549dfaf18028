"""Endpoints that create, preview, start and follow redrives."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from dlq.public.models import DeadLetterEntry, FailureGroup
from dlq.public.selection import chosen
from executions.public import addresses
from executions.public.access import (
    Action,
    Actor,
    Power,
    Powers,
    User,
    obtain,
    powers_on,
    refused,
    visible,
)
from executions.public.api import FREE_IDS, Endpoint, narrowed, operation, page
from executions.public.database import database_now, transaction
from executions.public.definitions import DefinitionProblem
from executions.public.errors import NotFound
from executions.public.models import Permission
from valkyr_plugins.redrive import lifecycle
from valkyr_plugins.redrive.api.shapes import (
    Choice,
    ItemsQuery,
    NewRedrive,
    PreviewShape,
    RedriveDetail,
    RedriveItemShape,
    RedriveQuery,
    RedriveReason,
    RedriveSummary,
)
from valkyr_plugins.redrive.lifecycle import make
from valkyr_plugins.redrive.models import Redrive, RedriveItem, RedriveScope
from valkyr_plugins.redrive.options import (
    PINNED,
    InvalidRedrive,
    RedriveOptions,
    among,
    check_approved,
    check_start,
    entries_of,
    needed,
)
from valkyr_plugins.redrive.preview import Preview, preview, preview_of

# Check which selected dead letters a caller may redrive.


def make_permitted(
    user: User, given: dict[str, Any], wish: RedriveOptions, actor: Actor
) -> Redrive:
    """Create a draft redrive of the dead letters that the caller chose.

    Raises Forbidden, NotFound or InvalidRedrive.
    """
    with transaction.atomic():
        by_inputs = bool(given.get("filter", {}).get("inputs"))
        rows = _permitted(user, given, needed(wish, by_inputs=by_inputs))
        redrive = make(rows, wish, actor=actor)
        require_bulk(user, redrive)
        check_approved(user, redrive)
    return redrive


def preview_permitted(
    user: User, given: dict[str, Any], wish: RedriveOptions, actor: Actor
) -> tuple[Preview, Powers]:
    """Preview the redrive that `make_permitted` would create; also return the caller's powers.

    Nothing is written. Raises Forbidden, NotFound or InvalidRedrive.
    """
    by_inputs = bool(given.get("filter", {}).get("inputs"))
    rows = _permitted(user, given, needed(wish, by_inputs=by_inputs))
    redrive, ids = lifecycle.unsaved(rows, wish, actor=actor)
    require_bulk(user, redrive, among(ids))
    check_approved(user, redrive, among(ids))
    return preview_of(redrive, ids), powers_on(user, redrive.workspace_id)


def require_bulk(
    user: User, redrive: Redrive, entries: QuerySet[DeadLetterEntry] | None = None
) -> None:
    """Raise Forbidden if the caller may not redrive this many dead letters in bulk.

    Pass `entries` for a redrive that is not stored.
    """
    if redrive.total <= FREE_IDS:
        return
    entries = entries_of(redrive) if entries is None else entries
    if visible(user, entries, Permission.BULK).count() < redrive.total:
        mine = powers_on(user, redrive.workspace_id)
        raise refused(mine.role, Permission.BULK, limited=mine.limited)


def _permitted(user: User, given: dict[str, Any], powers: list[Power]) -> QuerySet[DeadLetterEntry]:
    """Return the chosen rows on which the caller has all of `powers`.

    Every named ID must belong to such a row; a group or a filter selects only such rows. Raises
    NotFound, Forbidden or InvalidRedrive.
    """
    wanted = _wanted(user, given)
    rows = wanted
    for power in powers:
        rows = visible(user, rows, power)
    if not rows.exists():
        _refuse(user, wanted, powers)
    if "ids" in given:
        _require_all(rows, given["ids"])
    return rows


def _wanted(user: User, given: dict[str, Any]) -> QuerySet[DeadLetterEntry]:
    rows = DeadLetterEntry.objects.all()
    if "ids" in given:
        return rows.filter(pk__in=given["ids"])
    if "groupId" in given:
        group, _ = obtain(user, FailureGroup.objects.all(), given["groupId"], Action.VIEW)
        return rows.filter(group_id=group.pk)
    return chosen(rows, given["filter"])


def _refuse(user: User, wanted: QuerySet[DeadLetterEntry], powers: list[Power]) -> None:
    """Raise Forbidden, or NotFound if the caller may see none of the wanted dead letters."""
    known = visible(user, wanted, Action.VIEW) | visible(user, wanted, Action.TRIGGER)
    entry = known.only("id", "workspace_id", "workflow_id").first()
    if entry is None:
        raise NotFound("Your workspaces do not contain these dead letters.")
    mine = powers_on(user, entry.workspace_id, entry.workflow_id)
    lacking = next((power for power in powers if not mine.allows(power)), powers[0])
    raise refused(mine.role, lacking, limited=mine.limited)


def _require_all(rows: QuerySet[DeadLetterEntry], ids: list[UUID]) -> None:
    found = set(rows.filter(pk__in=ids).values_list("pk", flat=True))
    problems = [
        DefinitionProblem(
            f"ids[{number}]", "not_found", f"There is no {pk} that you may redrive in this way."
        )
        for number, pk in enumerate(ids)
        if pk not in found
    ]
    if problems:
        raise InvalidRedrive("You cannot redrive some of these dead letters.", problems[:FREE_IDS])


TAG = "Redrive"
LARGE = ("selection", "overrides", "expression", "recent")
FILTERS = {"state": "state", "groupId": "group_id"}


def redrives() -> QuerySet[Redrive]:
    """Return all redrives."""
    return Redrive.objects.all()


def shown(redrive: Redrive, may: Powers, status: int = 200) -> Response:
    """Return a response with one redrive; `Location` is added if the status is not 200."""
    context = {"may": may, "now": database_now()}
    headers = {"Location": addresses.api("redrive", redrive.pk)} if status > 200 else {}
    return Response(RedriveDetail(redrive, context=context).data, status, headers=headers)


def wish_of(given: dict[str, Any], asked: Any) -> RedriveOptions:
    """Return the options in the body; `asked` is the original body, whose choice is stored."""
    return RedriveOptions(
        selection={name: asked[name] for name in ("ids", "filter", "groupId") if name in asked},
        group_id=given.get("groupId") or given.get("filter", {}).get("groupId"),
        scope=given.get("scope", RedriveScope.STEP),
        from_step=given.get("fromStep", ""),
        version=given.get("version", PINNED),
        overrides=given.get("overrides"),
        expression=given.get("expression", ""),
        rate=given.get("ratePerSecond"),
        max_in_flight=given.get("maxInFlight"),
        canary=given.get("canary", 0),
        stop_above=given.get("stopAbove"),
        stop_window=given.get("stopWindow", 100),
        reason=given["reason"],
    )


class Redrives(Endpoint):
    """The endpoint that lists and creates redrives."""

    @operation("listRedrive", TAG, {200: RedriveSummary(many=True)}, parameters=[RedriveQuery])
    def get(self, request: Request) -> Response:
        """List the redrives of your workspaces, newest first."""
        query = self.query(RedriveQuery)
        rows = narrowed(visible(self.user, redrives()), query, FILTERS).defer(*LARGE)
        found = page(request, rows, query)
        shape = RedriveSummary(found.rows, many=True, context={"now": database_now()})
        return Response(shape.data, headers=found.headers)

    @operation(
        "createRedrive",
        TAG,
        {201: RedriveDetail},
        request=NewRedrive,
        errors=[403, 404],
        idempotent=True,
    )
    def post(self, request: Request) -> Response:
        """Create a draft redrive with the chosen dead letters that are open now.

        Nothing runs until you start it. A draft that is not started is deleted after a day.
        """
        given = self.body(NewRedrive)
        made = make_permitted(self.user, given, wish_of(given, request.data), self.actor)
        return shown(made, powers_on(self.user, made.workspace_id), 201)


class PreviewNewRedrive(Endpoint):
    """The endpoint that previews a redrive before it is created."""

    @operation("previewNewRedrive", TAG, {200: PreviewShape}, request=NewRedrive, errors=[403, 404])
    def post(self, request: Request) -> Response:
        """Return what `previewRedrive` would return for this redrive, without creating it.

        Nothing is written. Other users may change the dead letters before the redrive is created.
        """
        given = self.body(NewRedrive)
        wish = wish_of(given, request.data)
        found, may = preview_permitted(self.user, given, wish, self.actor)
        return Response(PreviewShape(found, context={"may": may}).data)


class RequeueEntries(Endpoint):
    """The endpoint that requeues many dead letters."""

    @operation(
        "requeueDeadLetterEntries",
        "DeadLetterQueue",
        {202: RedriveDetail},
        request=Choice,
        errors=[403, 404],
        idempotent=True,
    )
    def post(self, request: Request) -> Response:
        """Create and start a redrive of the selected dead letters; `Location` has its URL."""
        given = self.body(Choice)
        wish = wish_of(given, request.data)
        with transaction.atomic():
            made = make_permitted(self.user, given, wish, self.actor)
            made = lifecycle.start(made.pk, actor=self.actor)
        return shown(made, powers_on(self.user, made.workspace_id), 202)


class OneRedrive(Endpoint):
    """The endpoint that reads one redrive."""

    @operation("getRedrive", TAG, {200: RedriveDetail}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Return one redrive and its progress."""
        return shown(*obtain(self.user, redrives(), id, Action.VIEW))


class PreviewRedrive(Endpoint):
    """The endpoint that previews a redrive."""

    @operation("previewRedrive", TAG, {200: PreviewShape}, request=RedriveReason, errors=[403, 404])
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Preview a redrive: what would run, what is skipped, repeated side effects, and samples.

        The preview reads the current state and changes nothing. Other users may change the state
        before the start.
        """
        self.body(RedriveReason)
        _, may = obtain(self.user, redrives().defer(*LARGE), id, Permission.REDRIVE)
        return Response(PreviewShape(preview(id), context={"may": may}).data)


class Items(Endpoint):
    """The endpoint that lists a redrive's items."""

    @operation(
        "listRedriveItems",
        TAG,
        {200: RedriveItemShape(many=True)},
        errors=[403, 404],
        parameters=[ItemsQuery],
    )
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """List the dead letters of a redrive, oldest first."""
        obtain(self.user, redrives().defer(*LARGE), id, Action.VIEW)
        query = self.query(ItemsQuery)
        rows = RedriveItem.objects.filter(redrive_id=id)
        if "state" in query:
            rows = rows.filter(state=query["state"])
        found = page(request, rows, query, order=("entry_id",), ascending=True)
        return Response(RedriveItemShape(found.rows, many=True).data, headers=found.headers)


class _Move(Endpoint):
    """The base class of the endpoints with which users change a redrive's state."""

    def _moved(self, id: UUID, move: Callable[..., Redrive], *, sends: bool) -> Response:  # noqa: A002
        given = self.body(RedriveReason)
        redrive, may = obtain(self.user, redrives(), id, Permission.REDRIVE)
        if sends:
            check_start(self.user, redrive)
            require_bulk(self.user, redrive)
        return shown(move(id, actor=self.actor, reason=given["reason"]), may)


def _described(name: str) -> Callable[[Any], Any]:
    return operation(
        f"{name}Redrive", TAG, {200: RedriveDetail}, request=RedriveReason, errors=[403, 404, 409]
    )


class StartRedrive(_Move):
    """The endpoint that starts a redrive."""

    @_described("start")
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Start a redrive: hold its dead letters and requeue them at the set rate.

        Dead letters that are no longer open, or that another redrive holds, are skipped.
        """
        return self._moved(id, lifecycle.start, sends=True)


class PauseRedrive(_Move):
    """The endpoint that pauses a redrive."""

    @_described("pause")
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Pause a redrive; dead letters that were already requeued continue."""
        return self._moved(id, lifecycle.pause, sends=False)


class ResumeRedrive(_Move):
    """The endpoint that resumes a redrive."""

    @_described("resume")
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Resume a redrive that was paused, or that stopped after too many failures.

        After a stop, failures are counted from zero.
        """
        return self._moved(id, lifecycle.resume, sends=True)


class AbortRedrive(_Move):
    """The endpoint that aborts a redrive."""

    @_described("abort")
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Abort a redrive; requeued dead letters continue, and the others remain open."""
        return self._moved(id, lifecycle.abort, sends=False)
