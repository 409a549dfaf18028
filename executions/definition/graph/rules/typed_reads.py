"""Check templates against the modules' schemas, to find unknown paths and wrong types.

The problems are warnings, since a module may return more than it describes. Reads of open schemas,
containers' results and histories cause no warnings.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from executions.definition.graph.problem import DefinitionProblem, did_you_mean, problem
from executions.definition.graph.reading import BodyReading, ModuleEntry, TaskEntry
from executions.definition.graph.types import Missing, Typed
from executions.definition.templates import ExpressionText, has_template, split
from executions.definition.templating.errors import ExpressionSyntaxError, Pointer
from executions.definition.templating.expression import certain_paths
from executions.definition.templating.paths import Keys, path_text, plain_path

SHOWN_NAMES = 10
OUTPUT = "output"


def typed_read_warnings(
    document: Mapping[str, Any], reading: BodyReading
) -> Iterator[DefinitionProblem]:
    """Yield warnings about unknown paths and wrong types in templates of modules and the output."""
    yield from _body(reading, (reading,))
    if "output" in document:
        yield from _Reader((reading,), None).value(document["output"], (OUTPUT,), None)


def _body(body: BodyReading, around: tuple[BodyReading, ...]) -> Iterator[DefinitionProblem]:
    for task in body.tasks:
        for place, module in enumerate(task.modules):
            previous = task.modules[place - 1] if place else None
            yield from _module(module, previous, task, around)
        if task.undo is not None:
            yield from _module(task.undo, None, task, around)
        if task.body is not None:
            yield from _body(task.body, (task.body, *around))


def _module(
    module: ModuleEntry,
    previous: ModuleEntry | None,
    task: TaskEntry,
    around: tuple[BodyReading, ...],
) -> Iterator[DefinitionProblem]:
    spec = module.spec
    if spec is None or module.config is None:
        return
    inputs = Typed(spec.inputs_schema, spec.inputs_schema)
    for key, value in module.config.items():
        later = key in spec.deferred
        bodies = (task.body, *around) if later and task.body is not None else around
        reader = _Reader(bodies, previous)
        wanted = None if later else _known(inputs.at(key))
        yield from reader.value(value, (*module.pointer, "with", key), wanted)


@dataclass(frozen=True, slots=True)
class _Reader:
    """The sources that a template can read: tasks of `bodies`, innermost first, and `previous`."""

    bodies: tuple[BodyReading, ...]
    previous: ModuleEntry | None

    def value(
        self, value: Any, pointer: Pointer, wanted: Typed | None
    ) -> Iterator[DefinitionProblem]:
        """Yield the warnings of a value that must match `wanted`."""
        if isinstance(value, str):
            if has_template(value):
                yield from self._text(value, pointer, wanted)
        elif isinstance(value, (dict, list)):
            for key, item in value.items() if isinstance(value, dict) else enumerate(value):
                inner = _known(wanted.at(key)) if wanted is not None else None
                yield from self.value(item, (*pointer, key), inner)

    def _text(
        self, text: str, pointer: Pointer, wanted: Typed | None
    ) -> Iterator[DefinitionProblem]:
        try:
            parts = split(text)
        except ExpressionSyntaxError:
            return
        for part in parts:
            if not isinstance(part, ExpressionText):
                continue
            paths = certain_paths(part.source)
            for keys in paths:
                yield from self._path(keys, pointer)
            # The type of the whole value is known only for a plain path.
            whole = plain_path(part.source) if len(parts) == 1 else None
            if whole is not None and wanted is not None:
                yield from self._kind(whole, pointer, wanted)

    def _path(self, keys: Keys, pointer: Pointer) -> Iterator[DefinitionProblem]:
        found = self._read(keys)
        if found is None:
            return
        source, typed, read = found
        for depth in range(read, len(keys)):
            under = typed.at(keys[depth])
            if under is None:
                return
            if isinstance(under, Missing):
                message = _sentence(path_text(keys[:depth]), source, keys[depth], under)
                yield problem(pointer, "unknown_output", message)
                return
            typed = under

    def _kind(self, keys: Keys, pointer: Pointer, wanted: Typed) -> Iterator[DefinitionProblem]:
        found = self._read(keys)
        given: Typed | Missing | None = None if found is None else found[1]
        for key in keys[found[2] :] if found is not None else ():
            given = given.at(key) if isinstance(given, Typed) else None
        if found is None or not isinstance(given, Typed):
            return
        gives, takes = given.kinds(), wanted.kinds()
        if gives.isdisjoint(takes):
            message = (
                f'according to the output of {found[0].type}, "{path_text(keys)}" is '
                f"{_either(gives)}; {_either(takes)} is expected here"
            )
            yield problem(pointer, "type_mismatch", message)

    def _read(self, keys: Keys) -> tuple[ModuleEntry, Typed, int] | None:
        """Return the module, its output's type and the number of keys read; None if unknown."""
        if keys[0] == "previous":
            return _output(self.previous, 1)
        if keys[0] != "tasks" or len(keys) < 3 or keys[2] != OUTPUT:
            return None
        body = next((body for body in self.bodies if keys[1] in body.by_id), None)
        if body is None:
            return None
        task = body.tasks[body.by_id[str(keys[1])]]
        return _output(task.modules[-1], 3) if task.modules else None


def _output(module: ModuleEntry | None, read: int) -> tuple[ModuleEntry, Typed, int] | None:
    spec = module.spec if module is not None else None
    if module is None or spec is None or spec.container or spec.outputs_schema is None:
        return None
    return module, Typed(spec.outputs_schema, spec.outputs_schema), read


def _known(found: Typed | Missing | None) -> Typed | None:
    return found if isinstance(found, Typed) else None


def _sentence(owner: str, source: ModuleEntry, key: str | int, missing: Missing) -> str:
    if not missing.names:
        return (
            f'according to the output of {source.type}, "{owner}" is {missing.kind} and has no '
            f'"{key}"'
        )
    shown = ", ".join(missing.names[:SHOWN_NAMES])
    more = ", …" if len(missing.names) > SHOWN_NAMES else ""
    hint = did_you_mean(str(key), missing.names) or f"; it has {shown}{more}"
    return f'according to the output of {source.type}, "{owner}" has no "{key}"{hint}'


def _either(kinds: frozenset[str]) -> str:
    return " or ".join(sorted(kinds))
