"""Read YAML with the 1.2 core schema (JSON values only, each key once), and write it.

So `on:` is a key and not `true`, dates and times stay text, and there are no merge keys or further
tags. The text is read as a stream of events, in one pass without recursion.
"""

import copy
import math
import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from executions.definition.graph.problem import TextError

MAX_DEPTH = 64
MAX_VALUES = 500_000  # with a copy of the values for each alias

_TAG = "tag:yaml.org,2002:"
_WORDS: dict[str, bool | None] = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
_WORDS |= dict.fromkeys(("true", "True", "TRUE"), True)
_WORDS |= dict.fromkeys(("false", "False", "FALSE"), False)
_NUMBER_START = frozenset("+-.0123456789")
# Line breaks of YAML 1.1, which readers may replace with spaces unless they are escaped.
_BREAKS = re.compile("[\x85\u2028\u2029]")
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(
    r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
)


def read_yaml(text: str) -> Any:
    """Return the JSON value that a YAML text describes. Raises TextError."""
    builder = _Builder()
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        what = ", ".join(part for part in (error.context, error.problem) if part)
        message = f"the text is not YAML: {what}{_place(error.problem_mark)}"
        raise TextError("syntax", message) from None
    except yaml.YAMLError as error:
        raise TextError("syntax", f"the text is not YAML: {error}") from None
    return builder.document


def dump_yaml(value: Any) -> str:
    """Return a JSON value as YAML that `read_yaml` reads back; keys keep their order."""
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


class _Dumper(yaml.SafeDumper):
    """A dumper that also quotes numbers of the 1.2 schema, and escapes line breaks of Unicode."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _dumped_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    quoted = _INTEGER.fullmatch(text) or _FLOAT.fullmatch(text) or _BREAKS.search(text)
    return dumper.represent_scalar(f"{_TAG}str", text, style='"' if quoted else None)


_Dumper.add_representer(str, _dumped_text)


@dataclass(slots=True)
class _Open:
    """An unfinished list or object."""

    value: Any
    anchor: str | None
    start: int  # number of values read before it began
    key: str | None = None
    height: int = 1  # levels of nested lists and objects, including this one


@dataclass(slots=True)
class _Builder:
    """Builds values from events; an alias becomes a copy, counted like any value."""

    document: Any = None
    documents: int = 0
    count: int = 0
    open: list[_Open] = field(default_factory=list)
    anchors: dict[str, tuple[Any, int, int]] = field(default_factory=dict)

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._begin(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            ended = self.open.pop()
            self._raise_to(ended.height)
            self._remember(ended.anchor, ended.value, self.count - ended.start, ended.height)
        elif isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                raise _refused("syntax", "a second document begins; expected one", event)

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        if self._awaits_key():
            self._key(event)
            return
        value = _plain(event) if event.implicit[0] else _tagged(event)
        self._add(value, 1, event)
        self._remember(event.anchor, value, 1)

    def _key(self, event: yaml.ScalarEvent) -> None:
        # A key is the text as written: `true: a` and `1: a` have the keys "true" and "1".
        holder, key = self.open[-1], event.value
        if event.implicit[0] and key in _WORDS and _WORDS[key] is None:
            raise _refused("syntax", "a key must be text", event)
        if key in holder.value:
            raise _refused("duplicate_key", f'the key "{key}" is given twice', event)
        self._remember(event.anchor, key, 1)
        holder.key = key

    def _alias(self, event: yaml.AliasEvent) -> None:
        if self._awaits_key():
            raise _refused("syntax", "a key must be written out, not an alias", event)
        if event.anchor not in self.anchors:
            message = f'the alias "*{event.anchor}" does not refer to an earlier anchor'
            raise _refused("syntax", message, event)
        value, size, height = self.anchors[event.anchor]
        self._require_depth(len(self.open) + height, event)
        self._raise_to(height)
        self._count(size, event)
        self._add(copy.deepcopy(value), 0, event)

    def _begin(self, event: yaml.CollectionStartEvent) -> None:
        if self._awaits_key():
            raise _refused("syntax", "a key must be text", event)
        self._require_depth(len(self.open) + 1, event)
        value: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
        expected = "map" if isinstance(value, dict) else "seq"
        if event.tag not in (None, "!", f"{_TAG}{expected}"):
            raise _refused("syntax", f"the tag {event.tag} is not available", event)
        start = self.count
        self._add(value, 1, event)
        self.open.append(_Open(value, event.anchor, start))

    def _awaits_key(self) -> bool:
        return bool(self.open) and isinstance(self.open[-1].value, dict) and not self._has_key()

    def _has_key(self) -> bool:
        return self.open[-1].key is not None

    def _add(self, value: Any, size: int, event: yaml.NodeEvent) -> None:
        self._count(size, event)
        if not self.open:
            self.document = value
        elif isinstance(self.open[-1].value, list):
            self.open[-1].value.append(value)
        else:
            self.open[-1].value[self.open[-1].key] = value
            self.open[-1].key = None

    def _count(self, size: int, event: yaml.NodeEvent) -> None:
        self.count += size
        if self.count > MAX_VALUES:
            message = f"with its aliases expanded, the text has more than {MAX_VALUES:,} values"
            raise _refused("too_many_values", message, event)

    def _require_depth(self, depth: int, event: yaml.NodeEvent) -> None:
        if depth > MAX_DEPTH:
            raise _refused("too_deep", f"values are nested more than {MAX_DEPTH} deep", event)

    def _raise_to(self, height: int) -> None:
        """Make the open container's height greater than `height`, the height of its content."""
        if self.open:
            self.open[-1].height = max(self.open[-1].height, height + 1)

    def _remember(self, anchor: str | None, value: Any, size: int, height: int = 0) -> None:
        if anchor is not None:
            self.anchors[anchor] = (value, size, height)


def _plain(event: yaml.ScalarEvent) -> Any:
    """Return the value of a scalar without quotes or tag, as the core schema reads it."""
    text: str = event.value
    if text in _WORDS:
        return _WORDS[text]
    if text[0] in _NUMBER_START:
        if _INTEGER.fullmatch(text):
            return _number(event, "int")
        if _FLOAT.fullmatch(text):
            return _number(event, "float")
    return text


def _tagged(event: yaml.ScalarEvent) -> Any:
    """Return the value of a scalar with quotes or with a tag of the core schema."""
    kind = "str" if event.tag in (None, "!") else event.tag.removeprefix(_TAG)
    if kind == "str":
        return event.value
    if kind in ("int", "float"):
        return _number(event, kind)
    if kind in ("null", "bool") and event.value in _WORDS:
        return _WORDS[event.value]
    raise _refused("syntax", f"the tag {event.tag} is not available here", event)


def _number(event: yaml.ScalarEvent, kind: str) -> float:
    text: str = event.value
    try:
        if kind == "int":
            return int(text, 0 if text[:2] in ("0o", "0x") else 10)
        number = float(re.sub(r"\.(?=[inIN])", "", text))
    except ValueError as error:
        raise _refused("value", f"the number cannot be read: {error}", event) from None
    if not math.isfinite(number):
        raise _refused("value", f"JSON cannot hold the number {text}", event)
    return number


def _refused(code: str, message: str, event: yaml.Event) -> TextError:
    return TextError(code, f"{message}{_place(event.start_mark)}")


def _place(mark: Any) -> str:
    return f" (line {mark.line + 1}, column {mark.column + 1})" if mark is not None else ""
