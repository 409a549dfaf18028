"""The catalogues of translated texts: `make messages` writes them, `make check` compares them.

Texts are marked in Python (`gettext`, `ngettext`, `lazy`) and in templates (`translate`,
`blocktranslate`); names of models and fields are taken from the models. Each catalogue is next to
its code: one for the apps, one for each plugin, because plugins are optional. GNU gettext is not
needed: Babel reads and writes the files.
"""

import ast
import io
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_python
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).parents[1]
LANGUAGES = ("de", "es")
APPS = ("executions", "runners", "dlq", "valkyr", "valkyr_project")
PLUGINS = "valkyr_plugins"
# Placeholders for arguments: `{name}`, `%(name)s` or `{}`.
HOLES = re.compile(r"%\(\w+\)[sd]|\{[^{}]*\}")
# Django converts the texts of a template to calls with literal strings.
_TEXT = r"""[ur]*(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
CALLS = re.compile(rf"\b(?:_|n?gettext)\({_TEXT}(?:, *{_TEXT})?(?=[,)])")
FUNCTIONS: dict[str, tuple[int, ...] | None] = {
    "gettext": None, "gettext_lazy": None, "gettext_noop": None, "lazy": None, "_": None,
    "ngettext": (1, 2),
}  # fmt: skip
UPDATE = "Run `make messages`, then translate the texts that it lists."

Text = str | tuple[str, str]


@dataclass(frozen=True, slots=True)
class Package:
    """A package with its own catalogue, and the folders of its texts."""

    name: str
    folders: tuple[Path, ...]

    def catalogue(self, language: str) -> Path:
        """Return the path of the catalogue's `.po` file."""
        home = self.folders[0] / "locale" / language / "LC_MESSAGES"
        return home / "django.po"


def packages() -> Iterator[Package]:
    """Yield the apps as one package, whose catalogue is in the first app, and then every plugin."""
    yield Package(APPS[0], tuple(ROOT / app for app in APPS))
    for folder in sorted((ROOT / PLUGINS).iterdir()):
        if (folder / "apps.py").exists():
            yield Package(f"{PLUGINS}.{folder.name}", (folder,))


@cache
def texts(package: Package) -> list[Text]:
    """Return the marked texts of a package; for a plugin, without those that the apps translate."""
    found: dict[str, Text] = {}
    for folder in package.folders:
        for path in sorted(folder.rglob("*.py")):
            if not {"migrations", "frontend"} & set(path.parts):
                found |= {_key(text): text for text in _read(path.read_bytes())}
        for path in sorted(folder.glob("templates/**/*.html")):
            found |= {_key(text): text for text in _of_template(path.read_text())}
    found |= {name: name for name in _names(package)}
    if package.name == APPS[0]:
        found |= {text: text for text in _of_unfold()}
    if package.name != APPS[0]:
        for text in texts(next(packages())):
            found.pop(_key(text), None)
    return [found[key] for key in sorted(found)]


def _key(text: Text) -> str:
    return text if isinstance(text, str) else text[0]


def _read(source: bytes) -> Iterator[Text]:
    found: Any  # a tuple if a call has several texts, despite Babel's types
    for _, function, found, _ in extract_python(io.BytesIO(source), FUNCTIONS, (), {}):
        parts = found if isinstance(found, tuple) else (found,)
        if not isinstance(parts[0], str) or not parts[0]:
            continue
        yield (parts[0], str(parts[1])) if function == "ngettext" else parts[0]


def _of_template(source: str) -> Iterator[Text]:
    from django.utils.translation.template import templatize

    for call in CALLS.findall(templatize(source)):
        tree = ast.parse(f"{call})", mode="eval").body
        parts = [ast.literal_eval(part) for part in tree.args] if isinstance(tree, ast.Call) else []
        yield (parts[0], parts[1]) if len(parts) > 1 else parts[0]


def _of_unfold() -> set[str]:
    """Return the texts of Unfold's templates that Django's catalogues lack.

    Unfold has no catalogue.
    """
    import unfold
    from django.utils.translation import gettext, override

    found = set()
    for path in sorted(Path(unfold.__file__).parent.glob("templates/**/*.html")):
        found |= {text for text in _of_template(path.read_text()) if isinstance(text, str)}
    with override(LANGUAGES[0]):
        ours = {text for text in found if len(text) > 1 and gettext(text) == text}
    return found & (ours | _known())


def _known() -> set[str]:
    path = ROOT / APPS[0] / "locale" / LANGUAGES[0] / "LC_MESSAGES" / "django.po"
    return {str(message.id) for message in _load(path)}


def _names(package: Package) -> set[str]:
    """Return the English names of the admin's models, their fields and apps."""
    from django.apps import apps
    from django.contrib import admin
    from django.contrib.admin.utils import flatten_fieldsets

    found: set[str] = set()
    for config in apps.get_app_configs():
        if Path(config.path) not in package.folders:
            continue
        for model in filter(admin.site.is_registered, config.get_models()):
            options, page = model._meta, admin.site.get_model_admin(model)
            found |= {str(config.verbose_name), str(options.verbose_name)}
            found.add(str(options.verbose_name_plural))
            shown = {
                *page.list_display,
                *flatten_fieldsets(page.fieldsets or ()),
                *(page.fields or ()),
            }
            for field in options.local_fields:
                if field.name in shown and not hasattr(page, field.name):
                    found.add(str(field.verbose_name))
    return found


def _load(path: Path) -> Catalog:
    if not path.exists():
        return Catalog()
    with path.open("rb") as file:
        return read_po(file)


def merged(package: Package, language: str) -> Catalog:
    """Return the catalogue with the current texts: translations are kept, obsolete ones removed."""
    old = {_id(message): message for message in _load(package.catalogue(language)) if message.id}
    new = Catalog(
        locale=language,
        project="Valkyr",
        version="",
        copyright_holder="Valkyr",
        fuzzy=False,
        charset="utf-8",
        header_comment=f"# Valkyr: {package.name}, {language}. Written by `make messages`.",
    )
    for text in texts(package):
        kept = old.get(_key(text))
        same = kept is not None and kept.pluralizable == isinstance(text, tuple)
        new.add(text, kept.string if kept and same else None)
    return new


def _id(message: Message) -> str:
    return message.id if isinstance(message.id, str) else message.id[0]


def source_of(catalogue: Catalog) -> bytes:
    """Return the catalogue as a `.po` file, the same bytes for the same texts."""
    file = io.BytesIO()
    write_po(file, catalogue, width=100, no_location=True, omit_header=True)
    head = (
        f'{catalogue.header_comment}\nmsgid ""\nmsgstr ""\n'
        f'"Language: {catalogue.locale}\\n"\n"MIME-Version: 1.0\\n"\n'
        '"Content-Type: text/plain; charset=utf-8\\n"\n"Content-Transfer-Encoding: 8bit\\n"\n'
        '"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\n'
    )
    lines = re.sub(r"(?m)^#, python-(brace-)?format\n", "", file.getvalue().decode())
    return (head + lines).encode()


def compiled(source: bytes) -> bytes:
    """Return the `.mo` file of a `.po` file."""
    catalogue = read_po(io.BytesIO(source))
    # The header contains both dates, and the same texts must give the same bytes.
    catalogue.creation_date = catalogue.revision_date = datetime(2026, 1, 1, tzinfo=UTC)
    file = io.BytesIO()
    write_mo(file, catalogue)
    return file.getvalue()


def wrong(catalogue: Catalog) -> list[str]:
    """Return texts without a translation, and those whose translation has other placeholders."""
    found = []
    for message in catalogue:
        if not message.id:
            continue
        strings: Any = message.string if message.pluralizable else (message.string,)
        ids: Any = message.id if message.pluralizable else (message.id,)
        if not all(strings):
            found.append(f"not translated: {_id(message)!r}")
        elif any(_holes(text) not in map(_holes, ids) for text in strings):
            found.append(f"other values than the English text: {_id(message)!r}")
    return found


def _holes(text: str) -> list[str]:
    return sorted(HOLES.findall(text))


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def _setup() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "valkyr_project.settings")
    os.environ.setdefault("VALKYR_SECRET_KEY", "messages-" + "0123456789abcdef" * 4)
    os.environ.setdefault("DATABASE_URL", "postgres://nobody@127.0.0.1:1/none")
    sys.path.insert(0, str(ROOT))
    import django

    django.setup()


def main(arguments: list[str]) -> int:
    """Write the catalogues; with `--check`, only compare them."""
    _setup()
    check = "--check" in arguments
    problems = 0
    for package in packages():
        for language in LANGUAGES:
            catalogue, path = merged(package, language), package.catalogue(language)
            if not len(catalogue):
                continue
            source = source_of(catalogue)
            binary = compiled(source)
            name = path.relative_to(ROOT)
            for text in wrong(catalogue):
                problems += 1
                _say(f"{name}: {text}")
            files = {path: source, path.with_suffix(".mo"): binary}
            if not check:
                path.parent.mkdir(parents=True, exist_ok=True)
                for file, content in files.items():
                    file.write_bytes(content)
            elif any(not file.exists() or file.read_bytes() != c for file, c in files.items()):
                problems += 1
                _say(f"{name}: is not what the sources say, or not compiled.")
    if problems:
        _say(UPDATE)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
