"""Commands to sign in and out, and to manage API tokens."""

import platform
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from valkyr.cli import profiles
from valkyr.cli.connecting import connected
from valkyr.cli.errors import CliError, Exit, usage
from valkyr.cli.inputs import workspace_id
from valkyr.cli.options import ApiCommand, Choices, PlainCommand, clean
from valkyr.cli.output import CommandOutput
from valkyr.cli.profiles import ConnectionProfile

if TYPE_CHECKING:
    from valkyr.cli.client import ApiClient

TOKENS = "/v1/ApiToken"
COLUMNS: Any = [
    ("ID", "id"),
    ("NAME", "name"),
    ("PREFIX", "prefix"),
    ("USER", "username"),
    ("SCOPES", lambda row: ",".join(row["scopes"])),
    ("EXPIRES", "expiresAt"),
    ("REVOKED", "revokedAt"),
    ("LAST USED", "lastUsedAt"),
]


@click.command(cls=ApiCommand)
@click.option("--username", metavar="NAME", help="Default: the command asks for it.")
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input.")
@click.option(
    "--token-stdin", is_flag=True, help=("Store the API token from standard input instead.")
)
@click.option("--workspace", metavar="NAME", help="The token's workspace, if you have several.")
@click.option("--days", type=click.IntRange(1), help="The lifetime of the token, in days.")
@click.pass_obj
def login(
    choices: Choices,
    username: str | None,
    password_stdin: bool,
    token_stdin: bool,
    workspace: str | None,
    days: int | None,
) -> None:
    """Sign in, and store an API token in a profile.

    Without --profile, the profile is `default`. The command exchanges a password for an API token
    and does not store the password. Only you can read the profile file.
    """
    if choices.local:
        raise usage("--local needs no sign-in.")
    name = profiles.check_name(choices.profile or "default")
    file = profiles.load(choices.config)
    url = _address(choices, file.profiles.get(name))
    if urlsplit(url).scheme == "http" and not _is_here(url):
        click.echo(
            f"Warning: {url} is not encrypted; others can read your password and token.", err=True
        )
    token = sys.stdin.readline().strip() if token_stdin else choices.token or ""
    made: dict[str, Any] = {}
    if not token:
        made = _exchanged(choices, url, username, password_stdin, workspace, days)
        token = made["token"]
    with connected(_at(choices, url, token)) as api:
        me = api.get("/v1/Me")
    file.profiles[name] = ConnectionProfile(url, token, made.get("id", ""))
    file.default = file.default or name
    profiles.save(choices.config, file)
    told = {"profile": name, "url": url, "username": me["username"], "file": str(choices.config)}
    if choices.json:
        CommandOutput(choices).value(told)
    else:
        CommandOutput(choices).note(
            f"Signed in at {url} as {me['username']}; profile {name!r} in {choices.config}."
        )


def _address(choices: Choices, known: ConnectionProfile | None) -> str:
    url = choices.url or choices.environment.get("VALKYR_URL") or (known.url if known else "")
    return clean(url or click.prompt("Address of the installation", err=True))


def _is_here(url: str) -> bool:
    return (urlsplit(url).hostname or "") in {"localhost", "127.0.0.1", "::1"}


def _at(choices: Choices, url: str, token: str = "") -> Choices:
    """Return options for this address and token that ignore profiles and the VALKYR_ variables."""
    given = {k: v for k, v in choices.environment.items() if not k.startswith("VALKYR_")}
    return Choices(
        url=url, token=token or None, environment={**given, "VALKYR_CONFIG": "/dev/null"}
    )


def _exchanged(
    choices: Choices,
    url: str,
    username: str | None,
    password_stdin: bool,
    workspace: str | None,
    days: int | None,
) -> dict[str, Any]:
    """Exchange a user name and password for a new API token; return the API's response."""
    who = username or click.prompt("User name", err=True)
    if password_stdin:
        password = sys.stdin.readline().rstrip("\r\n")
    else:
        password = click.prompt("Password", hide_input=True, err=True)
    with connected(_at(choices, url)) as api:
        try:
            pair = _signed_in(api, {"username": who, "password": password}, password_stdin)
        except CliError as error:
            if error.status == 401 and not _is_of_factor(error):
                error.hint = "Check the user name and the password."
            raise
    with connected(_at(choices, url, pair["access"])) as api:
        try:
            name = f"valkyr on {platform.node() or 'a computer'}"[:80]
            return _made(api, name=name, workspace=workspace, days=days)
        finally:
            api.post("/v1/auth/revoke", {"token": pair["refresh"]})


def _signed_in(api: "ApiClient", given: dict[str, str], from_stdin: bool) -> dict[str, Any]:
    """Sign in and return the two tokens; ask for a second-factor code if the account needs one."""
    try:
        pair: dict[str, Any] = api.post("/v1/auth/token", given)
    except CliError as error:
        if error.problem.get("code") != "second_factor_required":
            raise
        code = (
            sys.stdin.readline().strip()
            if from_stdin
            else click.prompt("Code of the authenticator app", err=True)
        )
        if not code:
            raise
        pair = api.post("/v1/auth/token", given | {"code": code})
    return pair


def _is_of_factor(error: CliError) -> bool:
    return str(error.problem.get("code", "")).startswith("second_factor_")


def _made(
    api: "ApiClient",
    *,
    name: str,
    workspace: str | None,
    days: int | None,
    **more: Any,
) -> dict[str, Any]:
    body: dict[str, Any] = {"name": name, **more}
    if workspace:
        body["workspaceId"] = workspace_id(api, workspace)
    if days:
        body["expiresAt"] = (datetime.now(UTC) + timedelta(days=days)).isoformat()
    try:
        made: dict[str, Any] = api.post(TOKENS, body)
    except CliError as error:
        if not workspace and any(p["path"] == "workspaceId" for p in error.problems):
            error.hint = "Choose one with --workspace NAME. `valkyr whoami` lists yours."
        raise
    return made


@click.command(cls=PlainCommand)
@click.option("--profile", metavar="NAME", help="Default: the default profile.")
@click.pass_obj
def logout(choices: Choices, profile: str | None) -> int:
    """Delete a profile, and revoke the token that `login` created."""
    output, file = CommandOutput(choices), profiles.load(choices.config)
    name = profile or choices.profile or file.default
    known = file.profiles.pop(name, None)
    if known is None:
        raise usage(f"There is no profile {name!r} in {choices.config}.")
    if file.default == name:
        file.default = next(iter(sorted(file.profiles)), "")
    profiles.save(choices.config, file)
    output.note(f"Profile {name!r} was removed from {choices.config}.")
    if not known.token_id:
        return Exit.OK
    with connected(_at(choices, known.url, known.token)) as api:
        try:
            api.delete(f"{TOKENS}/{known.token_id}")
        except CliError as error:
            error.hint = f"The profile was removed, but the token {known.token_id} was not revoked."
            raise
    return Exit.OK


@click.command(cls=ApiCommand)
@click.pass_obj
def whoami(choices: Choices) -> None:
    """Show your workspaces and roles, and the scopes of your token."""
    with connected(choices) as api:
        me = api.get("/v1/Me")
    output, token = CommandOutput(choices), me["token"] or {}
    output.record(
        {**me, "scopes": ", ".join(token.get("scopes", [])), "until": token.get("expiresAt")}
        if not choices.json
        else me,
        [
            ("User", "username"),
            ("Superuser", "isSuperuser"),
            ("Token allows", "scopes"),
            ("Until", "until"),
        ],
        key="username",
    )
    if not (choices.json or choices.quiet):
        click.echo()
        columns: Any = [("WORKSPACE", "slug"), ("ROLE", "role"), ("NAME", "name"), ("ID", "id")]
        output.table(me["workspaces"], columns)


@click.group()
def token() -> None:
    """Create, list and revoke API tokens."""


@token.command("create", cls=ApiCommand)
@click.argument("name")
@click.option("--workspace", metavar="NAME", help="The token's workspace, if you have several.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    help=("A scope such as trigger or view; repeat the option for several."),
)
@click.option("--days", type=click.IntRange(1), help="The lifetime of the token, in days.")
@click.option("--service-account", metavar="ID", type=click.UUID, help="The owner; default: you.")
@click.pass_obj
def create_token(
    choices: Choices,
    name: str,
    workspace: str | None,
    scopes: tuple[str, ...],
    days: int | None,
    service_account: Any,
) -> None:
    """Create an API token and print it; it is shown only once."""
    more: dict[str, Any] = {"scopes": list(scopes)} if scopes else {}
    if service_account:
        more["serviceAccountId"] = str(service_account)
    output = CommandOutput(choices)
    with connected(choices) as api:
        made = _made(api, name=name, workspace=workspace, days=days, **more)
    if choices.json:
        output.value(made)
    else:
        output.note(
            f"Token {made['id']}, valid until {made['expiresAt']}. It cannot be shown again:"
        )
        output.text(made["token"])


@token.command("list", cls=ApiCommand)
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True)
@click.pass_obj
def list_tokens(choices: Choices, limit: int) -> None:
    """List your tokens, and those of the workspaces that you administer."""
    with connected(choices) as api:
        rows = list(api.rows(TOKENS, limit))
        none = "No tokens. `valkyr token create NAME` creates one."
        CommandOutput(choices).table(rows, COLUMNS, empty=none, more=api.more, cut=True)


@token.command("revoke", cls=ApiCommand)
@click.argument("pk", metavar="ID", type=click.UUID)
@click.pass_obj
def revoke_token(choices: Choices, pk: Any) -> None:
    """Revoke a token: it is no longer accepted."""
    with connected(choices) as api:
        api.delete(f"{TOKENS}/{pk}")
    CommandOutput(choices).note(f"Token {pk} is revoked.")
