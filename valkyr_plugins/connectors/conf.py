"""The settings that limit what steps may reach and do."""

from typing import Any, ClassVar, Literal

from executions.public.configuration import Flag, Networks, SettingsModel, Words, read, setting


class ConnectorSettings(SettingsModel):
    """Settings of the plugin `connectors`: the networks, files and servers that steps can use."""

    title: ClassVar[str] = "What steps may do"

    http_allowed_networks: Networks = setting(
        (),
        "Private networks, such as `10.0.0.0/8`, to which Valkyr may connect to execute steps "
        "(`http.*`, `sql.*`, files in S3, and others), send alerts and get short-lived credentials",
        unset="none; `127.0.0.77/32` under `make up`, where the demo's partner listens",
    )
    files_root: str = setting(
        "",
        "The only local folder that `file.*`, `archive.*`, `data.csv_*` and `http.request` may "
        "use, the same for all workspaces; if empty, these modules cannot use local files",
        unset="none; on the stand-alone platform `$VALKYR_HOME/files`, unless "
        "`VALKYR_ALLOWED_HOSTS` names more than this machine",
    )
    file_schemes: Words = setting(
        ("local", "s3"),
        "Kinds of stores that file and archive steps may open: `local` is the files folder; "
        "others are [fsspec's "
        "names](https://filesystem-spec.readthedocs.io/en/latest/api.html"
        "#other-known-implementations). Install their packages yourself. Valkyr does not restrict "
        "stores other than `local` and `s3`: `http` can reach any host, and `sftp` any account "
        "that the worker can use. If egress rules or `EGRESS_ALLOW` restrict a step's hosts, the "
        "step cannot open these other stores. `file` and chains (`zip::…`) are never opened",
        unset="`local,s3`",
    )
    s3_endpoint: str = setting(
        "",
        "The S3 server for steps without an `endpoint`, such as `http://minio.internal:9000`; "
        "its address may be private",
        unset="Amazon S3",
    )
    s3_region: str = setting("us-east-1", "The region of the S3 server")
    sql_allowed_hosts: Words = setting(
        (),
        "Private databases that `sql.*` may reach: `db.internal`, `db.internal:5432` or "
        "`db.internal:5432/shop`. For the server with the engine's own tables, only "
        "the last form is accepted",
        unset="none",
    )
    email_url: str = setting(
        "",
        "The mail server: `smtp://user:password@host:587`, `smtps://host:465`, or "
        "`file:///folder` to store emails as files",
        unset="off; files in `$VALKYR_HOME/mail` under `make up`",
    )
    python_code: Flag = setting(
        False,
        "Whether workflows may contain Python code (`python.code`); the same for the web process "
        "and the workers. Namespaces and Landlock (Linux 5.13 or newer) confine the code. If the "
        "kernel or a container's seccomp profile does not allow them, the code is not run",
    )
    javascript_code: Flag = setting(
        False,
        "Whether workflows may contain JavaScript (`javascript.code`); the same for the web "
        "process and the workers. QuickJS runs the code in the sandbox of `python.code`",
    )
    code_sandbox: Literal["auto", "bubblewrap", "builtin"] = setting(
        "auto",
        "The sandbox of `python.code` and `javascript.code` "
        "([which to choose](../how-to/code-sandbox.md)): `bubblewrap`, `builtin`, or `auto`, which "
        "uses bubblewrap if it works, otherwise the built-in sandbox",
    )
    slack_api_url: str = setting(
        "https://slack.com/api",
        "The address of Slack's API for `slack.post` with a bot token; "
        "`https://slack-gov.com/api` for GovSlack",
    )
    stripe_api_base: str = setting(
        "https://api.stripe.com",
        "The address of Stripe's API for `stripe.*`; for tests against your own server, "
        "whose network `HTTP_ALLOWED_NETWORKS` must allow",
    )
    llm_base_url: str = setting(
        "https://api.openai.com/v1",
        "The OpenAI-compatible endpoint for `llm.*` steps without a `baseUrl`; if it is in a "
        "private network, `HTTP_ALLOWED_NETWORKS` must allow it",
    )
    llm_prices: Any = setting(
        "",
        "The price per million tokens: a YAML or JSON file, or JSON itself, such as "
        '`{"gpt-4o*": {"input": 2.5, "output": 10, "cached": 1.25, "currency": "USD"}}`. The '
        "most specific pattern that matches a model's name applies. The default `currency` is "
        "the setting `CURRENCY`. If the file changes, it is read again",
        unset="none: only tokens are counted",
    )


def settings() -> ConnectorSettings:
    """Return the plugin's settings. Raises ImproperlyConfigured if a setting is invalid."""
    return read(ConnectorSettings)
