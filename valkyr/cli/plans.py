"""Request the plans of bundles, and show and apply these plans."""

import sys
from collections import Counter
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import click

from valkyr.cli.errors import CliError, Exit, usage
from valkyr.cli.output import CommandOutput

if TYPE_CHECKING:
    from valkyr.cli.client import ApiClient

# The exit code of `plan` if something would change.
CHANGES = 2
SECONDS = 600
SIGNS = {"create": "+", "change": "~", "layout": "~", "archive": "-", "delete": "-"}
NOUNS = {
    "workflows": "workflow",
    "alert-rules": "alert rule",
    "budgets": "budget",
    "quotas": "quota",
    "circuit-rules": "circuit rule",
    "tiers": "tier",
}


def bundle_path(workspace: str, what: str = "") -> str:
    """Return the API path of a workspace's bundle; `what` is an operation, such as `/plan`."""
    return f"/v1/Workspace/{workspace}/bundle{what}"


def ask_plan(api: "ApiClient", workspace: str, bundle: dict[str, Any]) -> dict[str, Any]:
    """Return the API's plan for applying a bundle to a workspace."""
    found: dict[str, Any] = api.post(bundle_path(workspace, "/plan"), bundle, seconds=SECONDS)
    return found


def carry_out(
    api: "ApiClient", workspace: str, bundle: dict[str, Any], fingerprint: str
) -> dict[str, Any]:
    """Apply a bundle if its plan still has this fingerprint; return the API's response."""
    body = bundle | {"fingerprint": fingerprint}
    path = bundle_path(workspace, "/apply")
    done: dict[str, Any] = api.post(path, body, key=uuid4().hex, seconds=SECONDS)
    return done


def show_plan(output: CommandOutput, plan: dict[str, Any], place: Any) -> None:
    """Print a plan: changes, kept objects, problems, missing credentials and totals.

    With `--quiet`, print only the changes. `place` returns the file and line of a problem.
    """
    if output.quiet:
        for change in plan["changes"]:
            output.text(f"{SIGNS[change['action']]} {change['kind']}/{change['name']}")
        return
    for change in plan["changes"]:
        _show_change(output, change)
    for key in plan["kept"]:
        output.text(f"  {key} is no longer in the folder and stays; --prune removes it.")
    for problem in plan["problems"]:
        output.signed("!", f"{place(problem['path'])}: {problem['message']}")
    if plan["missingCredentials"]:
        named = ", ".join(plan["missingCredentials"])
        output.signed("!", f"Missing credentials: {named}")
    output.text(summary(plan))


def _show_change(output: CommandOutput, change: dict[str, Any]) -> None:
    sign, noun = SIGNS[change["action"]], NOUNS.get(change["kind"], change["kind"])
    about = {
        "create": "new",
        "archive": "to be archived",
        "delete": "to be deleted",
        "layout": "no new version",
    }.get(change["action"], "")
    if change["action"] == "change" and change["version"]:
        about = f"version {change['version']}"
    output.signed(sign, f"{noun} {change['name']}" + (f" ({about})" if about else ""))
    for line in change["lines"]:
        output.signed(line["sign"], line["text"], indent=4)
    for warning in change["warnings"]:
        output.signed("!", warning, indent=4)


def summary(plan: dict[str, Any]) -> str:
    """Return the totals of a plan in one sentence."""
    if not plan["changes"]:
        return f"No changes. {_objects(plan['unchanged'])} up to date."
    counted = Counter(SIGNS[change["action"]] for change in plan["changes"])
    numbers = f"{counted['+']} to create, {counted['~']} to change, {counted['-']} to remove"
    return f"Plan: {numbers}; {plan['unchanged']} unchanged."


def _objects(number: int) -> str:
    return "1 object is" if number == 1 else f"{number} objects are"


def refuse_problems(plan: dict[str, Any]) -> None:
    """Raise CliError if a plan has problems, which the caller has already printed."""
    if not plan["valid"]:
        many = len(plan["problems"])
        what = "1 problem" if many == 1 else f"{many} problems"
        raise CliError(f"The plan has {what}, so nothing was changed.", Exit.INVALID)


def confirmed(output: CommandOutput, *, yes: bool) -> bool:
    """Ask on a terminal whether to apply the plan; return the answer.

    Return True without asking if `yes` or JSON is set, or if there is no terminal.
    """
    if yes or output.json or not sys.stdin.isatty():
        return True
    return click.confirm("Apply these changes?", default=False, err=True)


def chosen_workspace(api: "ApiClient", name: str) -> dict[str, Any]:
    """Return the caller's active workspace with this ID, slug or name; by default, the only one.

    Raises CliError if there is none, or if several match.
    """
    rows = [row for row in api.get("/v1/Me")["workspaces"] if not row["archivedAt"]]
    found = [row for row in rows if not name or name in {row["id"], row["slug"], row["name"]}]
    if len(found) == 1:
        return dict(found[0])
    slugs = ", ".join(row["slug"] for row in rows) or "none"
    if name:
        raise CliError(f"You are in no workspace {name!r}; yours: {slugs}.", Exit.NOT_FOUND)
    raise usage(f"You have {len(rows)} workspaces: {slugs}.", "Choose one with --workspace.")
