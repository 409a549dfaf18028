"""What the settings let steps reach and do."""

from typing import Any, ClassVar, Literal

from executions.public.configuration import Flag, Networks, SettingsModel, Words, read, setting


class ConnectorSettings(SettingsModel):
    """What steps of the plugin `connectors` may reach, and whom they call."""

    title: ClassVar[str] = "What steps may do"

    http_allowed_networks: Networks = setting(
        (),
        "Networks that steps (`http.*`, `sql.*`, files in S3 and others) may reach although they "
        "are private, e.g. `10.0.0.0/8`",
        unset="none; `127.0.0.77/32` under `make up`, where the demo's partner listens",
    )
    files_root: str = setting(
        "",
        "The only folder `file.*` and `archive.*` may touch, the same for all workspaces; empty "
        "turns them off",
        unset="none; the stand-alone platform: `$VALKYR_HOME/files`, off where "
        "`VALKYR_ALLOWED_HOSTS` names more than this machine",
    )
    file_schemes: Words = setting(
        ("local", "s3"),
        "Kinds of stores file and archive steps may open: `local` is the files folder; others are "
        "[fsspec's names](https://filesystem-spec.readthedocs.io/en/latest/api.html#other-known-"
        "implementations), whose packages you install and which nothing guards: `http` would reach "
        "any host, `sftp` any account the worker can use. `file` and chains (`zip::…`) are never "
        "opened",
        unset="`local,s3`",
    )
    s3_endpoint: str = setting(
        "",
        "The S3 server of steps that name no `endpoint`, such as `http://minio.internal:9000`; it "
        "may be private",
        unset="Amazon's",
    )
    s3_region: str = setting("us-east-1", "Its region")
    sql_allowed_hosts: Words = setting(
        (),
        "Databases `sql.*` may reach although they are private: `db.internal`, `db.internal:5432` "
        "or `db.internal:5432/shop`. On the server that holds the engine's own tables only the "
        "last form counts",
        unset="none",
    )
    email_url: str = setting(
        "",
        "Where mails go: `smtp://user:password@host:587`, `smtps://host:465`, or "
        "`file:///folder` to keep mails as files",
        unset="off; files in `$VALKYR_HOME/mail` under `make up`",
    )
    python_code: Flag = setting(
        False,
        "Workflows may bring Python code along (`python.code`), for the web process and the "
        "workers alike. It runs cut off from network, files and processes by namespaces and "
        "Landlock (Linux 5.13 or newer), and is refused where the kernel, or a container's seccomp "
        "profile, denies these",
    )
    code_sandbox: Literal["auto", "bubblewrap", "builtin"] = setting(
        "auto",
        "What confines the code of `python.code` ([which to take](../how-to/code-sandbox.md)): "
        "`bubblewrap` and nothing else, `builtin`, or `auto`: bubblewrap where it works, else the "
        "built-in sandbox",
    )
    slack_api_url: str = setting(
        "https://slack.com/api",
        "Where `slack.post` sends messages with a bot's token; `https://slack-gov.com/api` for "
        "GovSlack",
    )
    stripe_api_base: str = setting(
        "https://api.stripe.com",
        "Where `stripe.*` steps send their requests; for tests against a server of your own, whose "
        "range `HTTP_ALLOWED_NETWORKS` must allow",
    )
    llm_base_url: str = setting(
        "https://api.openai.com/v1",
        "The OpenAI-compatible endpoint that `llm.*` steps ask which name none; one in a private "
        "network must be in `HTTP_ALLOWED_NETWORKS`",
    )
    llm_prices: Any = setting(
        "",
        "What a million tokens cost: a YAML or JSON file, or JSON itself, such as "
        '`{"gpt-4o*": {"input": 2.5, "output": 10, "cached": 1.25, "currency": "USD"}}`. Of the '
        "patterns that match a model's name the most specific counts; without `currency` it is the "
        "installation's. A file is read again once it has changed",
        unset="none: tokens are counted, amounts are not",
    )


def settings() -> ConnectorSettings:
    """These settings; raises ImproperlyConfigured."""
    return read(ConnectorSettings)
