"""Find a definition's steps that name missing or forbidden credentials.

This checks what is known before a run: the credential, the module, the workflow, the queue, and a
constant host. The other limits are checked when the step runs.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from executions.credentials.boundary import Boundary, RequestedUse, listed, refused
from executions.credentials.opening import boundaries_of
from executions.definition.catalog import Catalog
from executions.definition.graph.problem import DefinitionProblem, problem
from executions.definition.graph.reading import ModuleEntry, TaskEntry, count_tasks, read_body
from executions.definition.graph.schema import MAX_TASKS
from executions.definition.graph.storable import storage_problems
from executions.definition.templates import has_template, inspect_template
from executions.definition.templating.errors import Pointer
from executions.definition.templating.secrets import ROOT
from executions.models import Workspace

ASK = "Use another credential, or ask a user who may configure credentials to extend its boundary."


@dataclass(frozen=True, slots=True)
class Naming:
    """A module of a definition, and the place where the module first names each credential."""

    task: TaskEntry
    module: ModuleEntry
    places: Mapping[str, Pointer]  # the first place of each credential
    in_texts: frozenset[str]
    kept: frozenset[str]


@dataclass(frozen=True, slots=True)
class Misfits:
    """Problems with a definition's credentials, and the sorted names of missing credentials."""

    problems: list[DefinitionProblem]
    missing: list[str]


def misfits_of_many(
    given: Sequence[tuple[Any, UUID | None]],
    catalog: Catalog,
    workspace_id: UUID,
    remote_queues: Collection[str],
) -> list[Misfits]:
    """For each definition, return the problems with credentials that its steps cannot use.

    `given` pairs definitions with workflow IDs; without an ID, a credential's workflows are not
    checked. Uses one query, a second if a credential does not exist, and none if no step names one.
    """
    namings = [list(_namings(definition, catalog)) for definition, _ in given]
    names = [{name for one in each for name in one.places} for each in namings]
    boundaries = boundaries_of(workspace_id, set[str]().union(*names))
    missing = [sorted(each - boundaries.keys()) for each in names]
    slug = ""
    if any(missing):
        slug = Workspace.objects.values_list("slug", flat=True).get(pk=workspace_id)
    found = []
    for (_, workflow_id), each, lacks in zip(given, namings, missing, strict=True):
        problems = list(_unknown(each, boundaries, slug)) if lacks else []
        for one in each:
            problems += _problems(one, boundaries, workflow_id, remote_queues)
        found.append(Misfits(problems, lacks))
    return found


def _unknown(
    namings: Sequence[Naming], boundaries: Mapping[str, Boundary], slug: str
) -> Iterator[DefinitionProblem]:
    """Yield a problem for each named credential that the workspace with this slug lacks."""
    for one in namings:
        for name, place in one.places.items():
            if name not in boundaries:
                yield problem(
                    place,
                    "unknown_credential",
                    f'step "{one.task.id}" needs the credential "{name}", which the workspace '
                    f'"{slug}" does not have; create it there, or name another one',
                )


def static_place(text: Any) -> tuple[str, int | None] | None:
    """Return a URL's host and port (None: unknown); None if its host is unknown or a template."""
    if not isinstance(text, str):
        return None
    fixed = text.partition("{{")[0].partition("{%")[0]
    after = fixed.partition("://")[2]
    if has_template(text) and not any(mark in after for mark in "/?#"):
        return None
    try:
        parts = urlsplit(fixed)
        usual = {"http": 80, "https": 443}.get(parts.scheme.lower())
        return (parts.hostname, parts.port or usual) if parts.hostname else None
    except ValueError:
        return None


def _namings(definition: Any, catalog: Catalog) -> Iterator[Naming]:
    if not isinstance(definition, dict) or storage_problems(definition):
        return
    if count_tasks(definition) > MAX_TASKS:
        return
    for body in read_body(definition, (), catalog).everywhere():
        for task in body.tasks:
            for module, _ in task.steps:
                named = _named(module)
                places: dict[str, Pointer] = {}
                own = module.document.get("credential")
                if isinstance(own, str) and own and not has_template(own):
                    places[own] = (*module.pointer, "credential")
                for name, pointer in named:
                    places.setdefault(name, (*module.pointer, "with", *pointer))
                if places:
                    in_texts = frozenset(name for name, _ in named)
                    yield Naming(task, module, places, in_texts, _kept(module, named))


def _kept(module: ModuleEntry, named: list[tuple[str, Pointer]]) -> frozenset[str]:
    keys = module.spec.keeps if module.spec is not None else ()
    return frozenset(name for name, pointer in named if pointer and pointer[0] in keys)


def _named(module: ModuleEntry) -> list[tuple[str, Pointer]]:
    """Return the names of credentials in the module's `with`, each with its pointer."""
    # Parsing templates is slow, and most templates name no credential.
    if module.config is None or ROOT not in str(module.config):
        return []
    template, _ = inspect_template(module.config)
    return [(name, pointer) for pointer, _, named in template.sealed for name, _ in sorted(named)]


def _problems(
    one: Naming,
    boundaries: Mapping[str, Boundary],
    workflow_id: UUID | None,
    remote_queues: Collection[str],
) -> Iterator[DefinitionProblem]:
    spec = one.module.spec
    if spec is None:
        return
    own, inherited = one.module.document, one.task.document
    if one.module is one.task.undo:
        inherited = {}
    queue = own.get("queue", inherited.get("queue", spec.queue))
    remote = isinstance(queue, str) and queue in remote_queues
    for name, place in one.places.items():
        boundary = boundaries.get(name)
        if boundary is None:
            continue
        if workflow_id is None:
            boundary = Boundary(boundary.hosts, boundary.modules, remote=boundary.remote)
        use = RequestedUse(
            spec.type,
            spec.judges_hosts,
            workflow_id or UUID(int=0),
            one.in_texts,
            one.kept,
            remote=remote,
        )
        why = refused(use, name, boundary)
        if why is not None:
            yield problem(place, "credential_refused", f"{why}. {ASK}")
        elif not remote:
            yield from _addresses(one.module, name, boundary)


def _addresses(module: ModuleEntry, name: str, boundary: Boundary) -> Iterator[DefinitionProblem]:
    assert module.spec is not None
    for key in module.spec.addresses:
        place = static_place((module.config or {}).get(key))
        if place is not None and not boundary.allows_host(*place):
            message = (
                f'the credential "{name}" may not be sent to {place[0][:200]}, only to '
                f"{listed(boundary.hosts)}. Use an allowed address, or ask a user who may "
                "configure credentials to add the host"
            )
            yield problem((*module.pointer, "with", key), "credential_refused", message)
