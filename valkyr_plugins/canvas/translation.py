"""Translate a signature into a definition and the input of one execution.

The definition holds only the structure: the tasks, their order, queues and limits. Arguments and
times are in the input (`input.calls[n]`), so calls with the same structure share a version. Uses
neither database nor broker.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from celery.canvas import Signature, maybe_signature
from celery.canvas import group as Group  # noqa: N812 - a class by Celery's name

from executions.public.messaging import celery_app
from valkyr_plugins.canvas.options import (
    SignatureOptions,
    UntranslatableError,
    as_list,
    merged,
    read_options,
)
from valkyr_plugins.canvas.steps import (
    OF_MANY,
    StepIds,
    errbacks_of,
    name_of,
    packed_arguments,
    step_of,
    waiting_of,
)

CHAIN, GROUP, MAP = "celery.chain", "celery.group", "celery.map"
LINKS = frozenset({"link", "link_error"})
DELAYS = frozenset({"countdown", "eta"})
RESULTS = "({} | map(attribute='result') | list)"  # the list of results of a `flow.map`
NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Value:
    """The result of a part of a canvas: its expression, and the part's last tasks.

    `shown`, if set, replaces `text` in the canvas's result, as for a task with `ignore_result`.
    """

    text: str
    ends: tuple[str, ...] = ()
    shown: str = ""


@dataclass(frozen=True, slots=True)
class Translated:
    """A definition and its slug, the input of this call, and the requested priority."""

    definition: Mapping[str, Any]
    payload: Mapping[str, Any]
    slug: str
    priority: int | None


@dataclass(slots=True)
class _Drawing:
    tasks: list[dict[str, Any]] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    priorities: list[int] = field(default_factory=list)
    ids: StepIds = field(default_factory=StepIds)

    def place(self, part: Any, given: Value | None, more: Mapping[str, Any] = NOTHING) -> Value:
        """Add a part that follows `given`, or has no predecessor if `given` is None.

        Unless it is immutable, the part gets `given` as its first argument. `more` contains the
        options of the surrounding part. Raises UntranslatableError.
        """
        match _kind(part):
            case "celery.chain":
                return self._chain(part, given, merged(part.options, more))
            case "celery.chord":
                return self._chord(part, given, merged(part.options, more))
            case "celery.group":
                return self._group(part, given, merged(part.options, more))
            case "celery.chunks":
                return self._group(_chunks(part), given, merged(part.options, more))
            case "celery.map" | "celery.starmap":
                return self._map(part, given, merged(part.options, more))
            case _:
                return self._task(part, given, more)

    def _chain(self, chain: Any, given: Value | None, options: Mapping[str, Any]) -> Value:
        """Translate a chain: options go to its first task, links to the last, errbacks to all."""
        _check_own_kwargs(chain)
        parts = _in_a_chain([_with_args(chain.tasks[0], chain.args), *chain.tasks[1:]])
        errors = {k: v for k, v in options.items() if k == "link_error"}
        for number, part in enumerate(parts):
            more = errors
            if number == 0:
                more = {k: v for k, v in options.items() if k not in LINKS} | errors
            if number == len(parts) - 1 and "link" in options:
                more = more | {"link": options["link"]}
            given = self.place(part, given, more)
        return given or Value("none")

    def _chord(self, chord: Any, given: Value | None, options: Mapping[str, Any]) -> Value:
        """Translate a chord: if its header fails, the error callbacks of its body are called.

        Delays apply to the header. Raises UntranslatableError.
        """
        if chord.kwargs.get("kwargs") or set(chord.kwargs) - {"header", "body", "kwargs"}:
            raise _own_arguments(chord)
        body = _signature(chord.body, chord.app)
        errors = [*as_list(body.options.get("link_error")), *as_list(options.get("link_error"))]
        header = {k: v for k, v in options.items() if k not in LINKS}
        if errors:
            header["link_error"] = errors
        tasks = chord.tasks.tasks if isinstance(chord.tasks, Group) else chord.tasks
        members = [_with_args(one, chord.args) for one in _unrolled(tasks, chord.app)]
        before = self._members(members, given, header)
        return self.place(body, before, {k: v for k, v in options.items() if k not in DELAYS})

    def _group(self, group: Any, given: Value | None, options: Mapping[str, Any]) -> Value:
        _check_own_kwargs(group)
        if options.get("link"):
            raise UntranslatableError(
                "A group has the option 'link', which Celery rejects too. Write a chord, or "
                "link its tasks."
            )
        members = list(_unrolled(group.tasks, group.app))
        return self._members(members, given, options)

    def _members(
        self, members: list[Any], given: Value | None, options: Mapping[str, Any]
    ) -> Value:
        parts = [self.place(part, given, options) for part in members]
        ends = tuple(dict.fromkeys(end for part in parts for end in part.ends))
        before = given.ends if given is not None else ()
        return Value(
            f"[{', '.join(part.text for part in parts)}]",
            ends or before,
            f"[{', '.join(part.shown or part.text for part in parts)}]",
        )

    def _task(self, task: Any, given: Value | None, more: Mapping[str, Any]) -> Value:
        if not isinstance(task, Signature):
            raise UntranslatableError(
                f"A canvas consists of signatures; found {type(task).__name__}. Write task.s(…)."
            )
        own = merged(task.options, more)
        name = str(task.task)
        options = read_options(name, own)
        call = self._call(task, options)
        path = f"input.calls[{len(self.calls) - 1}]"
        takes = given is not None and not task.immutable
        args = f"[{given.text}] + {path}.args" if given is not None and takes else f"{path}.args"
        step = step_of(name, f"{{{{ {args} }}}}", f"{{{{ {path}.kwargs }}}}", path, options)
        if errors := as_list(own.get("link_error")):
            step["with"]["errbacks"] = errbacks_of(errors, call, path)
        value = self._add(name, step, given, path, options)
        for linked in as_list(own.get("link")):
            self.place(_signature(linked, task.app), value)
        return value

    def _map(self, part: Any, given: Value | None, options: Mapping[str, Any]) -> Value:
        """Translate a map or starmap to `flow.map`. Raises UntranslatableError."""
        inner = _signature(part.kwargs["task"], part.app)
        found = read_options(inner.task, options)
        items = packed_arguments(inner.task, list(part.kwargs["it"]))
        self._add_call({"items": items}, found)
        path = f"input.calls[{len(self.calls) - 1}]"
        args = "{{ [item] }}" if part.task == MAP else "{{ item }}"
        body = step_of(inner.task, args, {}, path, found)
        step = {
            "use": "flow.map",
            "with": {"items": f"{{{{ {path}.items }}}}"},
            "body": {"tasks": [{"id": "one", **body}]},
        }
        if found.countdown is not None or found.eta is not None or options.get("link_error"):
            raise UntranslatableError(
                f"{part.task} cannot have a countdown, an eta or a link_error. Use a group."
            )
        shown = SignatureOptions(ignore_result=found.ignore_result)
        value = self._add(inner.task, step, given, path, shown, RESULTS)
        for linked in as_list(options.get("link")):
            self.place(_signature(linked, part.app), value)
        return value

    def _call(self, task: Any, options: SignatureOptions) -> dict[str, Any]:
        """Add a task's call to the input, and return the call. Raises UntranslatableError."""
        call: dict[str, Any] = packed_arguments(
            task.task, {"args": list(task.args), "kwargs": dict(task.kwargs)}
        )
        self._add_call(call, options)
        return call

    def _add_call(self, call: dict[str, Any], options: SignatureOptions) -> None:
        for key in ("countdown", "eta", "expires"):
            if (value := getattr(options, key)) is not None:
                call[key] = value
        if options.priority is not None:
            self.priorities.append(options.priority)
        self.calls.append(call)

    def _add(
        self,
        task: str,
        step: dict[str, Any],
        given: Value | None,
        path: str,
        options: SignatureOptions,
        result: str = "{}.result",
    ) -> Value:
        name = self.ids.new(task)
        placed: dict[str, Any] = {"id": name}
        if waiting := waiting_of(path, options):
            placed["modules"] = [waiting, {"id": "main", **step}]
        else:
            placed |= step
        if given is not None and given.ends:
            placed |= {"after": list(given.ends), "join": "all"}
        self.tasks.append(placed)
        text = result.format(f"tasks.{name}.output")
        return Value(text, (name,), "none" if options.ignore_result else text)


def translate(signature: Any) -> Translated:
    """Translate a signature into a definition and an input. Raises UntranslatableError."""
    drawing = _Drawing()
    value = drawing.place(signature, None)
    if not drawing.tasks:
        raise UntranslatableError("The canvas has no task. Add at least one signature.")
    if _kind(signature) not in OF_MANY and len(drawing.tasks) == 1:
        # As in Celery, the task's ID is the ID of its result.
        _module(drawing.tasks[0])["with"]["id"] = "{{ execution.id }}"
    body = {
        "schema": "valkyr/1",
        "name": name_of(drawing.tasks),
        "tasks": drawing.tasks,
        "output": {"result": f"{{{{ {value.shown or value.text} }}}}"},
    }
    digest = sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    priority = max(drawing.priorities, default=None)
    return Translated(body, {"calls": drawing.calls}, f"celery-{digest[:24]}", priority)


def _signature(value: Any, app: Any) -> Any:
    """Return the value as a signature; messages contain signatures as mappings."""
    return maybe_signature(value, app=app)


def _module(task: dict[str, Any]) -> dict[str, Any]:
    """Return the definition of a task's own module, without a delay that precedes it."""
    found: dict[str, Any] = task.get("modules", [task])[-1]
    return found


def _kind(part: Any) -> str:
    """Return the name of a part's Celery task, such as `celery.chain`; "" for any other value."""
    return (part.task or "") if isinstance(part, Signature) else ""


def _with_args(part: Any, args: Any) -> Any:
    """Return the part, with the surrounding part's partial arguments added."""
    return part.clone(args) if args and isinstance(part, Signature) else part


def _in_a_chain(parts: list[Any]) -> list[Any]:
    """Normalise a chain as Celery does: unwrap groups of one task, and drop empty groups."""
    found = [_alone(part) for part in parts]
    kept = [part for part in found if not (_kind(part) == GROUP and not part.tasks)]
    return kept or found[-1:]


def _alone(part: Any) -> Any:
    while _kind(part) == GROUP and len(part.tasks) == 1:
        part = part.tasks[0]
    return part


def _unrolled(tasks: Any, app: Any) -> Iterator[Any]:
    """Yield the members of a group and of nested groups, without empty chains."""
    for one in tasks:
        member = _signature(one, app)
        if _kind(member) == GROUP:
            yield from _unrolled(member.tasks, app)
        elif not (_kind(member) == CHAIN and not member.tasks):
            yield member


def _chunks(part: Any) -> Any:
    """Return the group to which `chunks` is equivalent."""
    task, items, size = (part.kwargs[key] for key in ("task", "it", "n"))
    inner = _signature(task, part.app or celery_app())
    every = list(items)
    return Group(
        (inner.type.starmap(every[at : at + size]) for at in range(0, len(every), size)),
        app=inner.app,
    )


def _check_own_kwargs(part: Any) -> None:
    if set(part.kwargs) - {"tasks"}:
        raise _own_arguments(part)


def _own_arguments(part: Any) -> UntranslatableError:
    return UntranslatableError(
        f"The signature {part.task} has its own arguments. Pass them to the tasks inside it."
    )
