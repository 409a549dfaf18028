"""Commands that check, publish, export and list workflows, and print their JSON Schema."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from valkyr.cli.commands.bundles import export_folder
from valkyr.cli.commands.canaries import share
from valkyr.cli.connecting import connected
from valkyr.cli.errors import CliError, Exit, usage
from valkyr.cli.folder import is_folder
from valkyr.cli.inputs import JsonParameter, workflow_id, workspace_id
from valkyr.cli.options import ApiCommand, Choices
from valkyr.cli.output import CommandOutput

if TYPE_CHECKING:
    from valkyr.cli.client import ApiClient

Verdict = dict[str, Any]
MEDIA = {"yaml": "application/yaml", "json": "application/json"}


@click.command(cls=ApiCommand)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--workspace", metavar="NAME", help="Also check credentials, in this workspace.")
@click.option("--strict", is_flag=True, help="Also fail on warnings.")
@click.pass_obj
def validate(choices: Choices, files: tuple[Path, ...], workspace: str | None, strict: bool) -> int:
    """Check workflow files, YAML or JSON, or folders of them.

    With only --local, the command needs the project's settings, but no server or database. Add --as
    USER to check credentials too. Exits with 1 if a file has problems or, with --strict, warnings.
    """
    output, found = CommandOutput(choices), _files(files)
    documents = {path: _document(path) for path in found}
    sound = {path: doc for path, doc in documents.items() if "problems" not in doc}
    offline = choices.local and not choices.acting_as and not workspace
    verdicts = _offline(choices, sound) if offline else _asked(choices, sound, workspace)
    told = [{"file": str(path), **verdicts.get(path, documents[path])} for path in found]
    if choices.json:
        output.value(told)
    else:
        for one in told:
            _tell(output, one)
    bad = sum(not one["valid"] or (strict and bool(one["warnings"])) for one in told)
    output.note(f"{len(told) - bad} of {len(told)} files are valid.")
    return Exit.FAILED if bad else Exit.OK


def _published(slug: str, version: dict[str, Any], canary: dict[str, Any] | None) -> str:
    text = f"published {slug} as version {version['version']}"
    if canary is None:
        return f"{text}."
    return f"{text}, a canary with {canary['percent']:g} % of the new executions."


def _files(given: tuple[Path, ...]) -> list[Path]:
    found: list[Path] = []
    for path in given:
        if path.is_dir():
            below = (p for p in path.rglob("*") if p.suffix in {".yaml", ".yml", ".json"})
            found += sorted(p for p in below if p.is_file())
        elif path.is_file():
            found.append(path)
        else:
            raise usage(f"There is no file {path}.")
    if not found:
        raise usage("There are no .yaml, .yml or .json files in these folders.")
    return list(dict.fromkeys(found))


def _document(path: Path) -> Verdict:
    """Return the definition in the file, or the problems if the file cannot be read or parsed."""
    from executions.definition.graph.document import DefinitionError, load_text

    kind = "json" if path.suffix == ".json" else "yaml"
    try:
        return {"definition": load_text(path.read_text(encoding="utf-8"), content_type=kind)}
    except DefinitionError as error:
        found = error.problems
        return _verdict(found, [])
    except (OSError, UnicodeDecodeError) as error:
        wrong = {"path": "", "code": "unreadable", "message": f"cannot be read: {error}"}
        return {"valid": False, "problems": [wrong], "warnings": []}


def _offline(choices: Choices, documents: dict[Path, Verdict]) -> dict[Path, Verdict]:
    from valkyr.cli.project_settings import set_up

    set_up(choices.settings, choices.environment)
    from executions.public.publishing import versioning

    def judged(definition: Any) -> Verdict:
        found = _verdict(versioning.check(definition), versioning.warnings(definition))
        return found | {"checksum": versioning.checksum_of(definition) if found["valid"] else None}

    return {path: judged(doc["definition"]) for path, doc in documents.items()}


def _verdict(problems: Any, warnings: Any) -> Verdict:
    def told(rows: Any) -> list[dict[str, str]]:
        return [{"path": p.path, "code": p.code, "message": p.message} for p in rows]

    return {"valid": not problems, "problems": told(problems), "warnings": told(warnings)}


def _asked(
    choices: Choices, documents: dict[Path, Verdict], workspace: str | None
) -> dict[Path, Verdict]:
    with connected(choices) as api:
        place = {"workspaceId": workspace_id(api, workspace)} if workspace else {}
        return {
            path: api.post("/v1/Workflow/validate", doc | place) for path, doc in documents.items()
        }


def _tell(output: CommandOutput, one: Verdict) -> None:
    if not output.quiet or not one["valid"]:
        output.text(f"{one['file']}: {'valid' if one['valid'] else 'not valid'}")
    for kind in ("problems", "warnings"):
        for found in one[kind]:
            if kind == "problems" or not output.quiet:
                output.text(f"  {kind[:-1]}  {found['path'] or '.'}: {found['message']}")


@click.command(cls=ApiCommand)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--workspace", metavar="NAME", help="The workspace to publish in.")
@click.option(
    "--percent",
    type=click.FloatRange(0.01, 100),
    help="Publish as a canary: this share of new executions uses the new version.",
)
@click.option("--stop", type=JsonParameter(), help="The rule that stops the canary, as JSON.")
@click.option("--no-stop", is_flag=True, help="Never stop the canary automatically.")
@click.option(
    "--promote-after",
    type=click.IntRange(1),
    metavar="SECONDS",
    help="Promote the canary after this time.",
)
@click.pass_obj
def publish(
    choices: Choices, /, files: tuple[Path, ...], workspace: str | None, **canary: Any
) -> None:
    """Import workflow files, YAML or JSON, or folders of them, and publish each.

    A workflow of the same name gets a new version, unless nothing has changed. Running executions
    keep their version. With --percent, the version is a canary: `valkyr canary` compares, promotes
    and stops it.
    """
    how = share(**canary)
    output, found = CommandOutput(choices), _files(files)
    told = []
    with connected(choices) as api:
        place = workspace and workspace_id(api, workspace)
        for path in found:
            kind = MEDIA["json" if path.suffix == ".json" else "yaml"]
            text = path.read_bytes()
            row = api.upload(
                "/v1/Workflow/import", text, kind, onConflict="update", workspaceId=place
            )
            version = _publish(api, row["id"], how)
            told.append({"id": row["id"], "slug": row["slug"], "file": str(path)} | version)
            if version.get("unchanged"):
                output.note(f"{path}: {row['slug']} has not changed")
                continue
            output.note(f"{path}: {_published(row['slug'], version, how)}")
            for warning in version.get("warnings", ()):
                output.note(f"  warning  {warning['path']}: {warning['message']}")
    if choices.json:
        output.value(told)


def _publish(api: "ApiClient", pk: str, how: dict[str, Any] | None) -> dict[str, Any]:
    """Publish the draft, or start a canary; return the version, or {"unchanged": True}."""
    verb, body = ("publish", {}) if how is None else ("canary", how)
    try:
        version: dict[str, Any] = api.post(f"/v1/Workflow/{pk}/{verb}", body)
    except CliError as error:
        if how is not None or error.problem.get("code") != "unchanged":
            raise
        return {"unchanged": True}
    return version | {"unchanged": False}


@click.command(cls=ApiCommand)
@click.argument("names", metavar="[DIR | NAME…]", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All workflows that you may see.")
@click.option("--format", "form", type=click.Choice(list(MEDIA)), default="yaml")
@click.option("--python", is_flag=True, help="Write a Python module that declares the workflow.")
@click.option(
    *("--dir", "folder"),
    type=click.Path(path_type=Path, file_okay=False),
    help="Write a file for each workflow into this folder, named after its slug.",
)
@click.option("--workspace", metavar="NAME", help="Only workflows of this workspace.")
@click.option(
    "--prune", is_flag=True, help="With DIR: remove files of workflows that no longer exist."
)
@click.option(
    "--installation",
    is_flag=True,
    help="With DIR: also tiers and circuit rules; for superusers.",
)
@click.pass_obj
def export(
    choices: Choices,
    names: tuple[str, ...],
    everything: bool,
    form: str,
    python: bool,
    folder: Path | None,
    workspace: str | None,
    prune: bool,
    installation: bool,
) -> None:
    """Write a workspace's definitions into a folder, or drafts as YAML, JSON or Python.

    DIR is a folder for `plan` and `apply`: a path with a slash (`./definitions`), `.`, or a folder
    that has a valkyr.yaml. The command writes the published versions, and the rules that you may
    configure, into DIR.
    """
    if len(names) == 1 and folder is None and is_folder(names[0]):
        export_folder(choices, Path(names[0]), workspace, prune=prune, installation=installation)
        return
    if bool(names) == everything:
        raise usage("Name workflows, or give --all.")
    if folder is None and (everything or len(names) > 1):
        raise usage("Several workflows need --dir FOLDER.")
    output = CommandOutput(choices)
    with connected(choices) as api:
        if everything:
            place = workspace and workspace_id(api, workspace)
            rows = list(api.rows("/v1/Workflow", workspaceId=place))
        else:
            ids = [workflow_id(api, name, workspace) for name in names]
            rows = [api.get(f"/v1/Workflow/{pk}") for pk in ids]
        with output.progress(f"Exporting {len(rows)}"):
            kind = "json" if python else form
            texts = [(r, api.text(f"/v1/Workflow/{r['id']}/export", MEDIA[kind])) for r in rows]
    if python:
        form, texts = "py", [(row, _source(row["slug"], text)) for row, text in texts]
    if folder is None:
        output.text(texts[0][1])
        return
    written = _written(folder, form, texts)
    if choices.json:
        output.value([str(path) for path in written])
    else:
        for path in written:
            output.text(str(path))


def _source(slug: str, text: str) -> str:
    """Return a draft as Python source. Raises a usage error for an invalid draft."""
    from valkyr_plugins.python_workflows.source.export import python_source

    try:
        return python_source(json.loads(text), slug)
    except (ValueError, KeyError, TypeError) as error:
        raise usage(
            f"The draft of {slug!r} cannot be written as Python: {error}",
            f"Fix what `valkyr export {slug} > draft.yaml; valkyr validate draft.yaml` lists.",
        ) from error


def _written(folder: Path, form: str, texts: list[tuple[dict[str, Any], str]]) -> list[Path]:
    slugs = [row["slug"] for row, _ in texts]
    twice = sorted({slug for slug in slugs if slugs.count(slug) > 1})
    if twice:
        raise usage(
            f"Several workspaces have a workflow {twice[0]!r}.", "Choose one with --workspace."
        )
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for row, text in texts:
        stem = row["slug"].replace("-", "_") if form == "py" else row["slug"]
        path = folder / f"{stem}.{form}"
        path.write_text(text if text.endswith("\n") else f"{text}\n", encoding="utf-8")
        found.append(path)
    return found


@click.command(cls=ApiCommand)
@click.pass_obj
def schema(choices: Choices) -> None:
    """Print the JSON Schema of a workflow, for editors.

    With --local, print the schema of the installed package, without a project.
    """
    if choices.local:
        from executions.definition.graph.schema import WORKFLOW_SCHEMA

        found: Any = WORKFLOW_SCHEMA
    else:
        with connected(choices) as api:
            found = api.get("/v1/schema/workflow")
    CommandOutput(choices).value(found)


@click.command(cls=ApiCommand)
@click.argument("name", required=False, metavar="[NAME]")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True)
@click.option("--workspace", metavar="NAME", help="Only workflows of this workspace.")
@click.pass_obj
def workflows(choices: Choices, name: str | None, limit: int, workspace: str | None) -> None:
    """List workflows, newest first.

    With NAME, list only workflows whose names begin with it.
    """
    with connected(choices) as api:
        place = workspace and workspace_id(api, workspace)
        rows = list(api.rows("/v1/Workflow", limit, name=name, workspaceId=place))
        more = api.more
    columns = [
        ("ID", "id"),
        ("SLUG", "slug"),
        ("NAME", "name"),
        ("VERSION", "latestVersion"),
        ("ENABLED", "enabled"),
        ("UPDATED", "updatedAt"),
    ]
    CommandOutput(choices).table(rows, columns, empty="No workflows match.", more=more)
