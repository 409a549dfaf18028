"""Edit a Python file as text, at positions given by its syntax tree.

Nothing else changes: comments, quotes, line endings and layout are kept.
"""

import ast
import difflib
import sys
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

INDENT = "    "
NEWLINE = ord("\n")


class UnclearSource(Exception):
    """A file's code cannot be edited safely; the message gives the reason."""


class SourceFile:
    """A file of the project, existing or new, and its text after the edits."""

    def __init__(self, path: Path) -> None:
        """Read the file, if it exists. Raises UnclearSource unless it is readable, valid Python."""
        self.path = path
        self.exists = path.is_file()
        try:
            # Bytes preserve the line endings, and a syntax tree counts columns in bytes.
            self.old = path.read_bytes() if self.exists else b""
            self.new = self.old
            _ = self.tree
        except (OSError, SyntaxError, ValueError) as error:
            raise UnclearSource(f"it cannot be read: {error}") from error

    @cached_property
    def tree(self) -> ast.Module:
        """Return the syntax tree of the current text."""
        return ast.parse(self.new)

    @property
    def changed(self) -> bool:
        """Return whether any edit changed the text."""
        return self.new != self.old

    def restore(self, text: bytes) -> None:
        """Restore `text`, an earlier version, which undoes all edits that were made after it."""
        self.new = text
        self.__dict__.pop("tree", None)

    def write(self) -> None:
        """Write the edited text."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_bytes(self.new)

    def diff(self, root: Path) -> str:
        """Return the edits as a unified diff, with the file's path relative to `root`."""
        name = self.path.relative_to(root).as_posix()
        old, new = (text.decode().splitlines(keepends=True) for text in (self.old, self.new))
        before = f"a/{name}" if self.exists else "/dev/null"
        lines = difflib.unified_diff(old, new, before, f"b/{name}")
        return "".join(
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in lines
        )

    def assignments(self, name: str) -> list[ast.Assign | ast.AnnAssign | ast.AugAssign]:
        """Return the module-level statements that assign a name."""
        return [node for node in self.tree.body if name in _targets(node)]  # type: ignore[misc]

    def origin(self, name: str) -> str:
        """Return where a name is imported from, as `package.name`; "" if it is not imported."""
        for node in ast.walk(self.tree):
            for alias in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
                if (alias.asname or alias.name) == name:
                    module = node.module if isinstance(node, ast.ImportFrom) else ""
                    return f"{module}.{alias.name}" if module else alias.name
        return ""

    def calls(self, name: str) -> Iterator[ast.Call]:
        """Yield all calls to functions and methods named `name`."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and name == getattr(
                node.func, "id", getattr(node.func, "attr", "")
            ):
                yield node

    def extend(self, value: ast.List | ast.Tuple, items: Sequence[str]) -> None:
        """Add expressions at the end of a list or a tuple.

        Raises UnclearSource if the code's layout does not allow a safe edit.
        """
        before = [ast.dump(item) for item in value.elts]
        start, end = self._span(value)
        opening = self.new[start:end][:1]
        if opening not in (b"[", b"("):
            raise UnclearSource("the tuple has no brackets")
        if not value.elts:
            self._insert(start + 1, ", ".join(items) + ("," if opening == b"(" else ""))
        else:
            self._extend_after(value, items, end)
        found = next(
            node for node in ast.walk(self.tree)
            if isinstance(node, ast.List | ast.Tuple) and self._span(node)[0] == start
        )  # fmt: skip
        after = [ast.dump(item) for item in found.elts]
        if after != before + [ast.dump(ast.parse(f"[{i}]").body[0].value.elts[0]) for i in items]:  # type: ignore[attr-defined]
            raise UnclearSource("the list's end is written in an unusual way")

    def _extend_after(self, value: ast.List | ast.Tuple, items: Sequence[str], end: int) -> None:
        last_start, last_end = self._span(value.elts[-1])
        tail = self.new[last_end : end - 1]
        comma = any(b"," in line.split(b"#")[0] for line in tail.splitlines())
        if b"\n" in tail:
            line = self.new.rfind(b"\n", 0, last_start) + 1
            margin = self.new[line:last_start]
            indent = INDENT if margin.strip() else margin.decode()
            closing = self.new.rfind(b"\n", 0, end - 1) + 1
            if self.new[closing : end - 1].strip():
                raise UnclearSource("the list's end is written in an unusual way")
            self._insert(closing, "".join(f"{indent}{item},\n" for item in items))
            if not comma:
                self._insert(last_end, ",")
        elif comma:
            self._insert(end - 1, f" {', '.join(items)}," if items else "")
        else:
            self._insert(last_end, f", {', '.join(items)}")

    def import_module(self, name: str, before: ast.stmt | None = None) -> None:
        """Add `import name`, if missing, after the imports that precede a statement."""
        if self.origin(name) == name:
            return
        self.add_import(f"import {name}", before)

    def add_import(self, text: str, before: ast.stmt | None = None) -> None:
        """Add an import after the imports that precede a statement."""
        first = before.lineno if before is not None else 1 << 30
        imports = [
            node
            for node in self.tree.body
            if isinstance(node, ast.Import | ast.ImportFrom) and node.lineno < first
        ]
        if imports:
            # An empty line separates third-party imports from those of the standard library.
            gap = "\n" if _is_standard(imports[-1]) else ""
            self.insert_after(imports[-1], f"{gap}{text}")
        elif ast.get_docstring(self.tree, clean=False) is not None:
            self.insert_after(self.tree.body[0], f"\n{text}")
        else:
            self._insert(self._mark, f"{text}\n" + ("\n" if self.new else ""))

    def import_names(self, module: str, *names: str) -> None:
        """Import names from a module.

        Raises UnclearSource if a name already means something else.
        """
        missing = []
        for name in names:
            origin = self.origin(name)
            if origin and origin.rpartition(".")[2] != name:
                raise UnclearSource(f"{name} is {origin} there")
            if not origin:
                missing.append(name)
        if not missing:
            return
        for node in self.tree.body:
            if isinstance(node, ast.ImportFrom) and node.module == module and not node.level:
                start, end = self._span(node)
                if b"\n" not in self.new[start:end] and not self.new[start:end].endswith(b")"):
                    listed = sorted([*map(ast.unparse, node.names), *missing])
                    self._replace(start, end, f"from {module} import {', '.join(listed)}")
                    return
        self.add_import(f"from {module} import {', '.join(missing)}")

    def insert_after(self, node: ast.stmt, text: str) -> None:
        """Add lines after a statement.

        Raises UnclearSource if the statement's last line contains another statement.
        """
        _, end = self._span(node)
        line_end = self.new.find(b"\n", end)
        rest = self.new[end : line_end if line_end >= 0 else len(self.new)].split(b"#")[0].strip()
        if rest:
            raise UnclearSource(f"line {node.end_lineno} has several statements")
        if line_end < 0:
            self.append(text)
        else:
            self._insert(line_end + 1, f"{text}\n")

    def insert_before(self, node: ast.stmt, text: str) -> None:
        """Add a line before a statement.

        Raises UnclearSource if the statement's first line contains another statement.
        """
        start, _ = self._span(node)
        line = self.new.rfind(b"\n", 0, start) + 1
        indent = self.new[line:start].decode()
        if indent.strip():
            raise UnclearSource(f"line {node.lineno} has several statements")
        self._insert(line, f"{indent}{text}\n")

    def replace(self, node: ast.expr, text: str) -> None:
        """Replace an expression with the text of another expression."""
        self._replace(*self._span(node), text)

    def around(self, node: ast.stmt) -> ast.stmt | None:
        """Return the module-level statement that is or contains the statement `node`, or None."""
        line = node.lineno
        for one in self.tree.body:
            if one.lineno <= line <= (one.end_lineno or line):
                return one
        return None

    def append(self, text: str) -> None:
        """Add lines at the end of the file."""
        gap = "" if not self.new or self.new.endswith(b"\n") else "\n"
        self._insert(len(self.new), f"{gap}{text}\n")

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return the offsets of a node's start and end, in bytes."""
        starts = [0, *(n + 1 for n, byte in enumerate(self.new) if byte == NEWLINE)]
        mark = self._mark
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        # Columns do not count a byte order mark.
        return start + mark * (node.lineno == 1), end + mark * (node.end_lineno == 1)

    @property
    def _mark(self) -> int:
        """Return the length of the byte order mark, in bytes."""
        return len(BOM_UTF8) if self.new.startswith(BOM_UTF8) else 0

    def _insert(self, at: int, text: str) -> None:
        self._replace(at, at, text)

    def _replace(self, start: int, end: int, text: str) -> None:
        if b"\r\n" in self.new:
            text = text.replace("\n", "\r\n")
        self.new = self.new[:start] + text.encode() + self.new[end:]
        self.__dict__.pop("tree", None)
        try:
            _ = self.tree
        except SyntaxError as error:
            raise UnclearSource(f"the edited text would not be Python: {error}") from error


def _is_standard(node: ast.Import | ast.ImportFrom) -> bool:
    if isinstance(node, ast.ImportFrom) and node.level:
        return False
    module = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
    return str(module).partition(".")[0] in sys.stdlib_module_names


def _targets(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.Assign):
        found: Sequence[ast.expr] = node.targets
    elif isinstance(node, ast.AnnAssign | ast.AugAssign):
        found = [node.target]
    else:
        found = []
    return [target.id for target in found if isinstance(target, ast.Name)]
