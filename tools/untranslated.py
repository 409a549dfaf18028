"""Find texts of pages that no catalogue can translate: in templates, and in the admin's code.

In a template, these are words outside `translate` and `blocktranslate`. In Python, these are
literals used as a text for users, such as a title or a form field's label. In a script, these are
sentences, and literals that it shows: scripts take their texts from attributes that a template
writes. `tools/messages.py` checks the marked texts.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
APPS = ("executions", "runners", "dlq", "valkyr_plugins", "valkyr_project")
# Pages of the API, which are in English, and Unfold's own page, which we only extend.
ENGLISH = ("docs.html", "docs_sign_in.html", "errors.html", "error_reference.html", "skeleton.html")
WORD = re.compile(r"[A-Za-z]{2,} |[A-Z][a-z]+")
# Scripts of the API's page, of the studio, which has its own catalogue, and of other projects.
OTHER_SCRIPTS = ("api-docs.js", "studio", "frontend", "unfold")
NAMES = re.compile(r"Valkyr|UTC|Flower|Sentry|make demo|order-import")

COMMENT = re.compile(r"{#.*?#}|<!--.*?-->|{% comment %}.*?{% endcomment %}", re.DOTALL)
TRANSLATED = re.compile(r"{% blocktranslate\b.*?{% endblocktranslate %}", re.DOTALL)
SILENT = re.compile(r"<(script|style)\b.*?</\1>", re.DOTALL)
TAG = re.compile(r"{%.*?%}|{{.*?}}", re.DOTALL)
SPOKEN = re.compile(r"\s(?:aria-label|title|placeholder|alt)=\"([^\"]*)\"")
ICON = re.compile(r"<span class=\"material-symbols[^>]*>[^<]*</span>")
ELEMENT = re.compile(r"<[^<>]*>", re.DOTALL)

SCRIPT_COMMENT = re.compile(r"(?m)(?:^|[ \t])//.*$")
SENTENCE = re.compile(r"""(["'`])([A-Z][a-z]* [^"'`\n]*)\1""")
SHOWING = re.compile(r"\b(?:textContent|title|placeholder|aria-?[lL]abel|alert|confirm)\b")
CAPITALISED = re.compile(r"""(["'`])([A-Z][a-z]+[^"'`\n]*)\1""")

# Arguments, attributes and calls whose text users read.
ARGUMENTS = {
    "title", "label", "help_text", "question", "done", "shows", "empty", "empty_text", "headers",
    "description", "short_description", "form_submit_text",
}  # fmt: skip
FIRST = {"PageSection", "text_section", "json_section", "payload_section", "hidden_section", "mark"}
SECOND = {"message_user", "success", "warning", "info", "error"}


def in_template(source: str) -> Iterator[str]:
    """Yield the texts of a template that no catalogue can translate."""
    for pattern in (COMMENT, TRANSLATED, SILENT, ICON):
        source = pattern.sub("", source)
    bare = TAG.sub("", source)
    for text in [*SPOKEN.findall(bare), *ELEMENT.sub("\n", bare).splitlines()]:
        if WORD.search(NAMES.sub("", text)):
            yield text.strip()


def in_python(source: str) -> Iterator[tuple[int, str]]:
    """Yield the literals that are used as texts for users, each with its line."""
    for node in ast.walk(ast.parse(source)):
        for part in _places(node):
            text = _literal(part)
            if WORD.search(text) or (
                text.isalpha() and text.islower() and isinstance(node, ast.Call)
            ):
                yield part.lineno, text


def in_script(source: str) -> Iterator[tuple[int, str]]:
    """Yield the texts for users that are literals of a script, each with its line."""
    for number, line in enumerate(SCRIPT_COMMENT.sub("", source).splitlines(), 1):
        pattern = CAPITALISED if SHOWING.search(line) else SENTENCE
        yield from ((number, text) for _, text in pattern.findall(line))


def _places(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.keyword) and node.arg in ARGUMENTS:
        return _parts(node.value)
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return _parts(node.value) if node.targets[0].id in ARGUMENTS else []
    if not isinstance(node, ast.Call):
        return []
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    of_log = isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "log"
    if name in FIRST and node.args:
        return _parts(node.args[0])
    return _parts(node.args[1]) if name in SECOND and len(node.args) > 1 and not of_log else []


def _parts(value: ast.expr) -> list[ast.expr]:
    return list(value.elts) if isinstance(value, ast.Tuple | ast.List) else [value]


def _literal(value: ast.expr) -> str:
    if isinstance(value, ast.JoinedStr):
        return "".join(_literal(part) for part in value.values)
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""


def main() -> int:
    """Print each text with its file and line (for Python); return 1 if there are any."""
    found = []
    for app in APPS:
        for path in sorted((ROOT / app).glob("**/templates/**/*.html")):
            if path.name not in ENGLISH and "node_modules" not in path.parts:
                found += [
                    f"{path.relative_to(ROOT)}: {text!r}" for text in in_template(path.read_text())
                ]
        for path in sorted((ROOT / app).rglob("*.py")):
            if "admin" in path.parts or path.name == "admin.py":
                texts = in_python(path.read_text())
                found += [f"{path.relative_to(ROOT)}:{line}: {text!r}" for line, text in texts]
        for path in sorted((ROOT / app).rglob("*.js")):
            if not set(OTHER_SCRIPTS) & set(path.relative_to(ROOT).parts):
                texts = in_script(path.read_text())
                found += [f"{path.relative_to(ROOT)}:{line}: {text!r}" for line, text in texts]
    if found:
        found.append("Mark these texts: docs/contributing/writing.md#languages says how.")
        sys.stdout.write("\n".join(found) + "\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
