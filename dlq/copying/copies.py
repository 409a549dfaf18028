"""The formats in which a dead letter can be copied, and the text of a copy in each format."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.utils.translation import gettext_noop

from dlq.copying.pytest_file import pytest_file
from dlq.copying.requests import curl, makes_requests, request_of, requeuing
from dlq.models import DeadLetterEntry
from executions import addresses
from executions.definition.graph.places import find
from executions.definition.versions import compiled
from executions.errors import ValkyrError
from executions.models import Credential
from executions.payloads import references_in
from runners.modules import registry
from runners.modules.registry import UnknownModule


class CannotCopy(ValkyrError):
    """The failure has nothing to copy in this format."""

    code = "cannot_copy"


@dataclass(frozen=True, slots=True)
class CopyFormat:
    """A format of copies of a dead letter; `payload` is true if such a copy contains inputs."""

    name: str
    title: str
    icon: str
    payload: bool
    offered: Callable[[DeadLetterEntry], bool]
    text: Callable[[DeadLetterEntry], str]


def as_curl(entry: DeadLetterEntry) -> str:
    """Return the step's request as a curl command. Raises CannotCopy if this is not possible."""
    _require_complete(entry)
    request = request_of(entry.module, entry.original_inputs)
    if request is None:
        raise CannotCopy(
            f"Step {entry.step_path} is of {entry.module}, with recorded inputs that are not an "
            "HTTP request; copy it as a test instead."
        )
    name, kind = _credential(entry)
    return curl(request, key=entry.run.idempotency_key, credential=name, kind=kind)


def as_pytest(entry: DeadLetterEntry) -> str:
    """Return a test file that replays the step. Raises CannotCopy if this is not possible."""
    if not _replayable(entry):
        raise CannotCopy(
            f"Step {entry.step_path} had no inputs yet, or the module {entry.module} is not "
            "installed or cannot run alone. Test the workflow instead: see "
            "docs/how-to/testing.md."
        )
    _require_complete(entry)
    _, kind = _credential(entry)
    return pytest_file(
        entry.module,
        entry.step_path,
        entry.original_inputs,
        error_type=entry.error_type,
        exception=entry.exception,
        fields=_FIELDS.get(kind, ()),
    )


def _require_complete(entry: DeadLetterEntry) -> None:
    if next(references_in(entry.original_inputs), None) is not None:
        raise CannotCopy(
            f"Step {entry.step_path} has inputs with values in the payload store. Download them "
            "from the page of the dead letter."
        )


def kind_of(name: str) -> CopyFormat | None:
    """Return the format with this name, or None."""
    return KINDS.get(name)


_FIELDS = {"bearer": ("token",), "basic": ("username", "password"), "signing": ("secret",)}


def _credential(entry: DeadLetterEntry) -> tuple[str, str]:
    """Return the name and the type of the step's credential, each "" if it is unknown."""
    try:
        _, step = find(compiled(entry.execution.version_id).graph, entry.step_path)
    except (KeyError, ValueError):
        return "", ""
    if not step.credential:
        return "", ""
    known = Credential.objects.filter(workspace_id=entry.workspace_id, name=step.credential)
    return step.credential, known.values_list("type", flat=True).first() or ""


def _replayable(entry: DeadLetterEntry) -> bool:
    if not isinstance(entry.original_inputs, dict):
        return False
    try:
        module = registry.get(entry.module)
    except UnknownModule:
        return False
    # A test cannot replay steps of the engine itself, which run bodies or start child executions.
    return not module.container and entry.module != "flow.subworkflow"


KINDS: Mapping[str, CopyFormat] = {
    kind.name: kind
    for kind in (
        CopyFormat(
            "requeue", gettext_noop("Copy requeue command"), "terminal", False,
            lambda entry: True,
            lambda entry: requeuing(addresses.below_root("dead-letter-requeue", entry.pk)),
        ),
        CopyFormat(
            "curl", gettext_noop("Copy as curl"), "http", True,
            lambda entry: makes_requests(entry.module), as_curl,
        ),
        CopyFormat(
            "pytest", gettext_noop("Copy as pytest"), "science", True, _replayable, as_pytest,
        ),
    )
}  # fmt: skip
