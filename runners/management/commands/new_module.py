"""Create the file of a new module and the file of its test, and print the next steps."""

import keyword
import re
from argparse import ArgumentParser
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runners.modules import registry
from runners.modules.function_step import TYPE_NAME

TEMPLATES = Path(__file__).parents[1] / "new_module"
NEXT = """\
Wrote {module} and {test}.

1. Try it, in this folder:

    python -m pytest -p valkyr_project.pytest_plugin {test}

2. Let the engine know it: in the environment of web and workers (with `make up`, of that),

    VALKYR_EXTRA_MODULES={package}.{file}

   or, in a package that is installed beside Valkyr, as an entry point in its pyproject.toml:

    [project.entry-points."valkyr.modules"]
    "{type}" = "{package}.{file}:{object}"

3. Use it in a workflow:

    - id: less
      use: {type}
      with: {{total: 2000, percent: 10}}
"""


class Command(BaseCommand):
    """Create the files of a new module."""

    help = (
        "Create a module to start from: a typed function with @step (or a class), and a test "
        "with the testing kit. Existing files are not overwritten."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments for the type, the kind of module and the folder."""
        parser.add_argument(
            "type", help="two or more words separated by dots, such as shop.discount"
        )
        parser.add_argument(
            "--class",
            action="store_true",
            dest="as_class",
            help="write a Module class, which has more options than a function",
        )
        parser.add_argument(
            "--into",
            type=Path,
            default=Path(),
            metavar="FOLDER",
            help="the folder for the package (default: this folder); it must be on Python's path",
        )

    def handle(self, *args: Any, **options: Any) -> str:
        """Write both files; return the next steps. Raises CommandError if that fails."""
        plan = plan_of(options["type"], options["into"], as_class=options["as_class"])
        write(plan)
        return NEXT.format(
            module=plan.module,
            test=plan.test,
            package=plan.names["package"],
            file=plan.names["file"],
            type=plan.names["type"],
            object=plan.names["object"],
        )


@dataclass(frozen=True, slots=True)
class ModuleFiles:
    """The template, the files to write, and the names that are inserted into the template."""

    template: str
    module: Path
    test: Path
    names: dict[str, str]


def plan_of(type_name: str, into: Path, *, as_class: bool) -> ModuleFiles:
    """Return the files for a module type. Raises CommandError for an invalid or existing name."""
    _check(type_name)
    first, *rest = type_name.split(".")
    package, file = f"{first}_steps", "_".join(rest)
    camel = "".join(word.capitalize() for word in re.split(r"[._]", ".".join(rest)))
    names = {
        "type": type_name,
        "package": package,
        "file": file,
        "name": file,
        "Name": camel,
        "object": camel if as_class else file,
        "title": file.replace("_", " ").capitalize(),
    }
    folder = into / package
    template = "class" if as_class else "step"
    return ModuleFiles(template, folder / f"{file}.py", folder / f"test_{file}.py", names)


def write(plan: ModuleFiles) -> None:
    """Write the files of a plan. Raises CommandError if one of the files exists."""
    there = [str(path) for path in (plan.module, plan.test) if path.exists()]
    if there:
        raise CommandError(
            f"{' and '.join(there)} already exist{'s' if len(there) == 1 else ''}; choose "
            "another type, or another folder with --into"
        )
    plan.module.parent.mkdir(parents=True, exist_ok=True)
    (plan.module.parent / "__init__.py").touch()
    for path, name in ((plan.module, plan.template), (plan.test, "test")):
        text = (TEMPLATES / f"{name}.txt").read_text(encoding="utf-8")
        path.write_text(Template(text).substitute(plan.names), encoding="utf-8")


def _check(type_name: str) -> None:
    if TYPE_NAME.fullmatch(type_name) is None:
        raise CommandError(
            f"{type_name!r} is not a module type: expected two or more words of lower-case "
            "letters, digits and _, separated by dots, such as shop.discount"
        )
    reserved = [word for word in type_name.split(".") if keyword.iskeyword(word)]
    if reserved:
        raise CommandError(f"{reserved[0]!r} is a Python keyword; choose another word")
    if type_name in registry.names():
        raise CommandError(f"a module of type {type_name!r} already exists; choose another")
