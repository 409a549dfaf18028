"""A workflow's input: its JSON Schema, the handles of its function, and the payload of a start.

A function receives the whole payload if `input=` is given, or if its only parameter is a model, a
dataclass, a TypedDict, or `Any` (a payload of any shape). Otherwise, the parameters are the
payload's properties by name.
"""

import dataclasses
import inspect
import json
from collections.abc import Callable, Container, Mapping
from typing import Any, get_type_hints

from pydantic import BaseModel, TypeAdapter, create_model
from typing_extensions import is_typeddict

from valkyr_plugins.python_workflows.tracing.handles import HandleFacts, ValueHandle, default
from valkyr_plugins.python_workflows.tracing.places import TracingError

_REF = "#/$defs/"


class WorkflowInput:
    """The parameters of a workflow's function, or of an agent's tool."""

    def __init__(
        self,
        function: Callable[..., Any],
        given: Any,
        name: str,
        *,
        signature: inspect.Signature | None = None,
    ) -> None:
        self.signature = signature or inspect.signature(function)
        self.name = name
        self._place = f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}"
        hints = get_type_hints(function, include_extras=True)
        self._shapes = {key: hints.get(key, Any) for key in self.signature.parameters}
        self._given = given
        self.whole = self._whole()
        self._schema: dict[str, Any] | None = None

    def handles(
        self, source: str = "input", within: frozenset[Any] = frozenset()
    ) -> dict[str, Any]:
        """Return the handles with which the function is called during tracing.

        Their templates read `source`. If `within` is given, this value exists only in those scopes.
        """
        if self.whole is not None:
            names = list(self.signature.parameters)
            shape = Any if isinstance(self.whole, Mapping) else self.whole
            facts = HandleFacts(source, within=within, shape=shape, external=True)
            return dict.fromkeys(names, ValueHandle(facts))
        return {name: self._property(name, source, within) for name in self.signature.parameters}

    def schema(self) -> dict[str, Any] | None:
        """Return the JSON Schema of the payload.

        Return None if any payload is valid and `input=` is not given.
        """
        if self._schema is None:
            self._schema = self._made()
        return self._schema if self._schema or self._given is not None else None

    def payload(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Return the payload that these arguments form; the arguments may be handles.

        Raises TypeError for invalid arguments.
        """
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.name}{self.signature}: {error}") from None
        if self.whole is None:
            return dict(bound.arguments)
        return next(iter(bound.arguments.values()), {})

    def dumped(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Return the payload for these arguments as JSON. Raises TypeError for invalid ones."""
        found = self.payload(args, kwargs)
        if self.whole is not None and not isinstance(self.whole, Mapping):
            return TypeAdapter(self.whole).dump_python(found, mode="json", by_alias=True)
        shapes = self._shapes if self.whole is None else {}
        if not isinstance(found, Mapping):
            return TypeAdapter(Any).dump_python(found, mode="json", by_alias=True)
        return {
            key: TypeAdapter(shapes.get(key, Any)).dump_python(one, mode="json", by_alias=True)
            for key, one in found.items()
        }

    def _whole(self) -> Any:
        parameters = list(self.signature.parameters.values())
        if self._given is not None:
            if len(parameters) > 1:
                raise TracingError(
                    f"{self.name}: with input= the function takes one parameter, the payload; "
                    f"found {self.signature}",
                    at=self._place,
                )
            return self._given
        for one in parameters:
            if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD, one.POSITIONAL_ONLY):
                raise TracingError(
                    f"{self.name}: parameter {one} cannot be passed by name", at=self._place
                )
        shape = self._shapes[parameters[0].name] if len(parameters) == 1 else None
        annotated = parameters and parameters[0].annotation is not inspect.Parameter.empty
        if shape is Any and annotated:
            return {}
        return shape if _is_described(shape) else None

    def _property(self, name: str, source: str, within: frozenset[Any]) -> ValueHandle:
        parameter = self.signature.parameters[name]
        facts = HandleFacts(
            f"{source}.{name}", within=within, shape=self._shapes[name], external=True
        )
        found = ValueHandle(facts)
        return found if parameter.default is parameter.empty else default(found, parameter.default)

    def _made(self) -> dict[str, Any]:
        if isinstance(self.whole, Mapping):
            return dict(self.whole)
        if self.whole is not None:
            return plain_schema(TypeAdapter(self.whole).json_schema(by_alias=True))
        if not self.signature.parameters:
            return {}
        fields: dict[str, Any] = {
            name: (self._shapes[name], ... if one.default is one.empty else one.default)
            for name, one in self.signature.parameters.items()
        }
        return plain_schema(create_model(self.name, **fields).model_json_schema())


def _is_described(shape: Any) -> bool:
    return isinstance(shape, type) and (
        issubclass(shape, BaseModel) or dataclasses.is_dataclass(shape) or is_typeddict(shape)
    )


def plain_schema(schema: Any) -> dict[str, Any]:
    """Return a schema without titles; parts that are used once are inlined."""
    found: dict[str, Any] = _written(schema)
    parts: dict[str, Any] = found.pop("$defs", {})
    text = json.dumps([found, parts])
    once = {name for name in parts if text.count(f'"{_REF}{name}"') == 1}
    inlined: dict[str, Any] = _inlined(found, parts, once)
    kept = {name: _inlined(one, parts, once) for name, one in parts.items() if name not in once}
    return inlined | ({"$defs": kept} if kept else {})


def _written(value: Any, *, names: bool = False) -> Any:
    """Return a copy of a schema, or of a part of it, without titles and redundant keywords."""
    if isinstance(value, Mapping):
        return {
            key: _written(one, names=key in ("properties", "$defs"))
            for key, one in value.items()
            if names
            or not (
                (key == "title" and isinstance(one, str))
                or (key == "additionalProperties" and one is True)
            )
        }
    if isinstance(value, list):
        return [_written(one) for one in value]
    return value


def _inlined(value: Any, parts: Mapping[str, Any], once: Container[str]) -> Any:
    if isinstance(value, Mapping):
        name = str(value.get("$ref", "")).removeprefix(_REF)
        if name in once:
            rest = {key: one for key, one in value.items() if key != "$ref"}
            return _inlined(parts[name], parts, once) | rest
        return {key: _inlined(one, parts, once) for key, one in value.items()}
    if isinstance(value, list):
        return [_inlined(one, parts, once) for one in value]
    return value
