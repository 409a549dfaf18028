"""Import n8n exports, from files and folders, as workflows."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from executions.public.access import Actor
from executions.public.database import transaction
from executions.public.definitions import DefinitionError, catalog
from executions.public.errors import ValkyrError
from executions.public.models import Workflow, Workspace
from executions.public.publishing import versioning
from valkyr_plugins.n8n.conversion import Conversion, convert
from valkyr_plugins.n8n.export import MAX_BYTES, Export, read_text
from valkyr_plugins.n8n.report import STATUSES
from valkyr_plugins.n8n.shares import Shares

MAX_FILES = 10_000


class Command(BaseCommand):
    """Imports n8n exports, and prints a table for each workflow and a line of totals."""

    help = "Import n8n workflows from files, or from folders with JSON files."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options for files, destination and output."""
        parser.add_argument("files", nargs="+", metavar="FILE", help="a file, or a folder")
        parser.add_argument("--workspace", help="slug of the workspace to import into")
        parser.add_argument("--dry-run", action="store_true", help="store nothing; only report")
        parser.add_argument(
            "--json", action="store_true", help="print one JSON object per workflow"
        )
        parser.add_argument(
            "--report", action="store_true",
            help="store nothing; print the shares of the nodes and files that are mapped",
        )  # fmt: skip
        parser.add_argument(
            "--top",
            type=int,
            default=20,
            help="with --report: number of the remaining nodes to list",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Import (or measure) the workflows; a final CommandError lists the files not imported."""
        if options["report"]:
            self._measure(_files(options["files"]), options["top"], as_json=options["json"])
            return
        workspace = None if options["dry_run"] else _workspace(options["workspace"])
        sums = dict.fromkeys(STATUSES, 0)
        done, failed = 0, []
        for path in _files(options["files"]):
            try:
                conversions = [found for _, found in _conversions(path)]
                for found, slug in zip(conversions, _keep(conversions, workspace), strict=True):
                    self._tell(path, found, slug, as_json=options["json"])
                    sums = {key: sums[key] + found.report.counts()[key] for key in sums}
                    done += 1
            except (OSError, ValueError, ValkyrError, DefinitionError) as error:
                failed.append(f"{path}: {error}")
        if not options["json"]:
            counted = ", ".join(f"{count} {status}" for status, count in sums.items())
            many = "1 workflow" if done == 1 else f"{done} workflows"
            self.stdout.write(f"{many}; nodes: {counted}.")
        if failed:
            raise CommandError("\n".join(["Not imported:", *failed]))

    def _measure(self, paths: list[Path], top: int, *, as_json: bool) -> None:
        """Print the shares of mapped nodes and workflows; count files that cannot be imported."""
        shares = Shares()
        for path in paths:
            try:
                for export, found in _conversions(path):
                    shares.add(export, found.report, len(versioning.check(found.definition)))
            except (OSError, ValueError, ValkyrError, DefinitionError):
                shares.unreadable += 1
        told = [json.dumps(shares.told(top), ensure_ascii=False)] if as_json else shares.lines(top)
        for line in told:
            self.stdout.write(line)

    def _tell(self, path: Path, found: Conversion, slug: str, *, as_json: bool) -> None:
        report = found.report
        problems = versioning.check(found.definition)
        if as_json:
            about = {"file": str(path), "slug": slug or None, "problems": len(problems)}
            self.stdout.write(json.dumps(about | {"report": report.told()}, ensure_ascii=False))
            return
        place = f" → {slug}" if slug else ""
        self.stdout.write(f"\n{path}: {found.definition['name']}{place}")
        width = max((len(row.node) for row in report.rows), default=4)
        for row in report.rows:
            became = f"{row.module} {row.task}".strip() or "—"
            self.stdout.write(f"  {row.status:<8} {row.node:<{width}}  {became}")
            for remark in row.remarks:
                self.stdout.write(f"           {remark}")
        for line in (*report.remarks, *_to_create(found)):
            self.stdout.write(f"  {line}")
        state = f"{len(problems)} to fix before publishing" if problems else "ready to publish"
        self.stdout.write(f"  {state}")


def _to_create(found: Conversion) -> Iterator[str]:
    told = found.report.told()["toCreate"]
    for one in told["credentials"]:
        yield f"create the credential {one['name']} of type {one['type']} ({one['was']})"
    for one in told["variables"]:
        yield f"give the variable {one['name']} a value"
    for one in told["workflows"]:
        yield f"import the workflow {one['was']} as {one['slug']}"


def _files(names: list[str]) -> list[Path]:
    found: list[Path] = []
    for name in names:
        path = Path(name)
        if not path.exists():
            raise CommandError(f"{name} does not exist. Name a file, or a folder of them.")
        found += sorted(path.rglob("*.json")) if path.is_dir() else [path]
    if len(found) > MAX_FILES:
        raise CommandError(
            f"{len(found):,} files are too many; at most {MAX_FILES:,} are accepted at once."
        )
    return found


def _conversions(path: Path) -> list[tuple[Export, Conversion]]:
    """Return the exports of a file, each with its conversion.

    Raises OSError, ValueError or DefinitionError.
    """
    if path.stat().st_size > MAX_BYTES:
        raise ValueError(f"it has more than {MAX_BYTES:,} bytes")
    exports = read_text(path.read_text(encoding="utf-8-sig"))
    return [(export, convert(export, catalog())) for export in exports]


def _keep(conversions: list[Conversion], workspace: Workspace | None) -> list[str]:
    """Create all workflows of a file, or none; return their slugs, "" without a workspace."""
    if workspace is None:
        return [""] * len(conversions)
    with transaction.atomic():
        return [_create(found, workspace) for found in conversions]


def _create(found: Conversion, workspace: Workspace) -> str:
    """Create the workflow and return its slug, with a number if the plain slug is in use."""
    name = found.definition["name"]
    slug = _free(versioning.slug_of(name), workspace)
    versioning.create_workflow(
        workspace,
        name=name,
        slug=slug,
        definition=found.definition,
        description=found.definition.get("description", ""),
        actor=Actor.of_command(),
    )
    return slug


def _free(slug: str, workspace: Workspace) -> str:
    taken = set(
        Workflow.objects.filter(workspace=workspace, slug__startswith=slug[:70])
        .values_list("slug", flat=True)
        .order_by("slug")[:MAX_FILES]
    )
    number, found = 2, slug
    while found in taken:
        found, number = f"{slug[:70]}-{number}", number + 1
    return found


def _workspace(slug: str | None) -> Workspace:
    found = Workspace.objects.filter(slug=slug or Workspace.DEFAULT_SLUG, archived_at=None).first()
    if found is None:
        raise CommandError(f"There is no workspace {slug or Workspace.DEFAULT_SLUG!r}.")
    return found
