"""Convert n8n's texts into templates: `=Hello {{ $json.name }}` contains an expression."""

import json
import re
from typing import Any

from executions.public.templates import inspect_template, todo, todo_call
from valkyr_plugins.n8n.expressions.parsing import Untranslatable
from valkyr_plugins.n8n.expressions.translation import constant, translated
from valkyr_plugins.n8n.secrecy import secret_name, secret_value, stand_in, without_secrets
from valkyr_plugins.n8n.shape import Sight, operand

MAX_KEPT = 1_000
MAX_PARTS = 500
# An unterminated string extends to the end of the text. Otherwise, the search for the end would
# start at each quote and take quadratic time.
_STRING = re.compile(
    r""""(?:\\.|[^"\\])*+"?|'(?:\\.|[^'\\])*+'?|`(?:\\.|[^`\\])*+`?|[{}]""", re.DOTALL
)
_OURS = re.compile(r"\{\{|\{%")
_MARK = "\ue000"

Part = tuple[bool, str]  # whether the part is an expression, and its text


def is_expression(raw: Any) -> bool:
    """Return whether a value is, or is meant to be, an expression of n8n."""
    return isinstance(raw, str) and (raw.startswith("=") or _meant(raw))


def _meant(raw: str) -> bool:
    """Return whether text refers to n8n's data, such as `{{ $env.URL }}`.

    n8n does not evaluate such text without a leading `=`.
    """
    return re.search(r"\{\{\s*\$", raw) is not None


def parts(text: str) -> list[Part]:
    """Split a string, without its `=`, into parts: (False, literal) or (True, expression)."""
    found: list[Part] = []
    position = 0
    while (start := text.find("{{", position)) >= 0 and len(found) < MAX_PARTS:
        end = _end(text, start + 2)
        if end < 0:
            break
        found += [(False, text[position:start]), (True, text[start + 2 : end].strip())]
        position = end + 2
    found.append((False, text[position:]))
    return [part for part in found if part[1] or part[0]]


def separated(raw: str, by: str) -> list[str]:
    """Split a text at these characters outside its expressions; omit empty pieces."""
    start = "=" if raw.startswith("=") else ""
    pieces = [""]
    for is_one, text in parts(raw.removeprefix("=")):
        first, *others = ["{{ " + text + " }}"] if is_one else re.split(f"[{by}]", text)
        pieces[-1] += first
        pieces += others
    return [start + piece.strip() for piece in pieces if piece.strip()]


def _end(text: str, position: int) -> int:
    """Return the position of an expression's end: the first `}}` outside quotes and objects.

    If there is none, return the position of the first `}}` anywhere, or -1.
    """
    depth = 0
    for match in _STRING.finditer(text, position):
        if match.group() == "{":
            depth += 1
        elif match.group() == "}" and depth:
            depth -= 1
        elif match.group() == "}" and text.startswith("}}", match.start()):
            return match.start()
    return text.find("}}", position)


class Texts:
    """Converts values for one node; `unfinished` counts the parts that a user must complete."""

    def __init__(self, sight: Sight) -> None:
        self.sight = sight
        self.unfinished = 0

    def value(self, raw: Any, name: str = "") -> Any:
        """Convert a JSON value.

        `name` is the name of its field, which may show that the value is a secret.
        """
        if isinstance(raw, str):
            return self.text(raw, name)
        if isinstance(raw, dict):
            return {self.key(key): self.value(item, key) for key, item in raw.items()}
        if isinstance(raw, list):
            return [self.value(item, name) for item in raw]
        return raw

    def text(self, raw: str, name: str = "") -> str:
        """Convert a text into a template."""
        if not is_expression(raw):
            return self._literal(raw, name)
        if not raw.startswith("="):
            self.sight.remark(
                "A text contained {{ … }} without being marked as an expression; it was "
                "treated as one."
            )
        pieces = parts(raw.removeprefix("="))
        return "".join(
            self._template(text) if is_one else self._literal(text, name) for is_one, text in pieces
        )

    def operand(self, raw: Any) -> str:
        """Return a value as an operand of another expression. Raises Untranslatable."""
        if not is_expression(raw):
            if isinstance(raw, str) and without_secrets(raw) != raw:
                raise Untranslatable("it contains a possible secret")
            return _constant(raw)
        written = [
            operand(translated(text, self.sight)) if is_one else constant(text)
            for is_one, text in parts(raw.removeprefix("="))
        ]
        if not written:
            return '""'
        joined = written[0] if len(written) == 1 else f"({' ~ '.join(written)})"
        if inspect_template("{{ " + joined + " }}")[1]:
            raise Untranslatable("it cannot be read")
        return joined

    def expression(self, raw: Any) -> str:
        """Return an operand, or a `todo` call for an expression that cannot be translated."""
        try:
            return self.operand(raw)
        except Untranslatable as reason:
            return self.left(str(raw), str(reason))

    def left(self, original: str, reason: str) -> str:
        """Add a remark that an expression was not translated; return a `todo` call in its place."""
        self.unfinished += 1
        self.sight.remark(f"{_short(original)} was not translated: {reason}.")
        return todo_call(_kept(original))

    def json_text(self, raw: str) -> Any:
        """Convert JSON with expressions. Raises ValueError or RecursionError if it is not valid."""
        if not is_expression(raw):
            return self.value(json.loads(raw))
        pieces = parts(raw.removeprefix("="))
        if len(pieces) == 1 and pieces[0][0]:
            return self.text(raw)
        text, quoted = "", False
        templates: list[str] = []
        for is_one, piece in pieces:
            if is_one:
                mark = f"{_MARK}{len(templates)}{_MARK}"
                templates.append(self._template(piece))
                text += mark if quoted else f'"{mark}"'
            else:
                quoted = _inside(piece, quoted)
                text += piece
        return _filled(json.loads(text), templates, self)

    def _template(self, source: str) -> str:
        try:
            found = "{{ " + translated(source, self.sight) + " }}"
        except Untranslatable as reason:
            return "{{ " + self.left(source, str(reason)) + " }}"
        if inspect_template(found)[1]:
            return "{{ " + self.left(source, "it cannot be expressed here") + " }}"
        return found

    def _literal(self, text: str, name: str = "") -> str:
        if (
            secret_value(name, text)
            and not stand_in(text)
            and (secret_name(name) or without_secrets(text) == text)
        ):
            self.sight.remark(f'The value of "{name}" looked like a secret and was omitted.')
            self.unfinished += 1
            return todo(f"a secret was here, {name}: create a credential for it")
        clean = without_secrets(text, _MARK)
        if clean != text:
            self.sight.remark("A text contained a possible secret and was omitted.")
            self.unfinished += 1
        escaped = _OURS.sub(lambda match: "{{ " + constant(match.group()) + " }}", clean)
        return escaped.replace(_MARK, todo("a secret was here: create a credential for it"))

    def key(self, key: str) -> str:
        """Return an object's key, with secrets and template delimiters removed."""
        return _OURS.sub("{", without_secrets(key))


def _constant(raw: Any) -> str:
    if isinstance(raw, (dict, list)) and "{{" in json.dumps(raw):
        raise Untranslatable("it contains braces")
    return constant(raw)


def _inside(text: str, quoted: bool) -> bool:
    """Return whether a JSON string is still open at the end of a text."""
    skip = False
    for character in text:
        if skip:
            skip = False
        elif character == "\\":
            skip = quoted
        elif character == '"':
            quoted = not quoted
    return quoted


def _filled(value: Any, templates: list[str], texts: Texts) -> Any:
    if isinstance(value, str):
        pieces = value.split(_MARK)
        return "".join(
            templates[int(piece)] if place % 2 else texts.text(piece)
            for place, piece in enumerate(pieces)
        )
    if isinstance(value, dict):
        if any(_MARK in key for key in value):
            raise ValueError("a key is computed")
        return {texts.key(key): _filled(item, templates, texts) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, templates, texts) for item in value]
    return value


def _kept(original: str) -> str:
    clean = without_secrets(original)
    return clean if len(clean) <= MAX_KEPT else f"{clean[:MAX_KEPT]}…"


def _short(original: str) -> str:
    clean = without_secrets(" ".join(original.split()))
    return clean if len(clean) <= 80 else f"{clean[:80]}…"
