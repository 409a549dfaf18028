"""Convert all versions of HTTP Request into `http.request`."""

import json
import re
from typing import Any

from executions.public.templates import todo
from valkyr_plugins.n8n.mapping import Left, Made, NodeWork, family, plain
from valkyr_plugins.n8n.secrecy import secret_name, secret_value
from valkyr_plugins.n8n.shape import Shape, one
from valkyr_plugins.n8n.texts import is_expression

METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
BASIC = ("httpBasicAuth", "httpDigestAuth")
HEADER = ("httpHeaderAuth", "httpCustomAuth")
QUERY = ("httpQueryAuth",)
_SECRET_IN_URL = re.compile(r"([?&]([A-Za-z_.-]+)=)([^&\s{}#]{6,})")


@family("httpRequest")
def http_request(work: NodeWork) -> Made:
    """Make an `http.request` task; n8n passes on only the body, here `output.body`. Raises Left."""
    method = work.word("method", work.word("requestMethod", "GET")).upper().removeprefix("=")
    if method not in METHODS:
        raise Left(f"it uses the method {method[:20]}")
    inputs: dict[str, Any] = {"method": method, "url": _url(work)}
    query = _fields(work, "query", ("queryParameters", "queryParametersUi"), "queryParametersJson")
    headers = _fields(
        work, "header", ("headerParameters", "headerParametersUi"), "headerParametersJson"
    )
    if query:
        inputs["query"] = query
    if method not in ("GET", "HEAD") or work.get("sendBody") is True:
        inputs |= _body(work, headers)
    inputs |= _options(work)
    credential = _credential(work, headers)
    if headers:
        inputs["headers"] = {name: _as_text(value) for name, value in headers.items()}
    if work.get("options.pagination") is not None:
        work.remark("It read several pages; use http.paginate for that.")
    return work.made("http.request", inputs, _shape(work), credential=credential)


def _url(work: NodeWork) -> str:
    raw = work.get("url")
    if not isinstance(raw, str) or not raw.strip("= "):
        work.texts.unfinished += 1
        work.remark("The file does not contain its address.")
        return todo("the address")
    if not is_expression(raw):
        raw = _SECRET_IN_URL.sub(lambda match: _without(work, match), raw)
        if "{{ secrets." in raw:
            return raw
    return work.text(raw.strip())


def _without(work: NodeWork, match: re.Match[str]) -> str:
    if not secret_name(match[2]):
        return match[0]
    return match[1] + _secret(work, match[2], "in its address")


def _secret(work: NodeWork, name: str, where: str) -> str:
    own = f"{work.id}_{plain(name) or 'secret'}"[:80]
    work.remark(f"The value of {name} {where} looked like a secret and was omitted.")
    return "{{ secrets." + work.secret(own, "secret", f"{name} {where}") + " }}"


def _fields(work: NodeWork, what: str, keys: tuple[str, str], text_key: str) -> dict[str, Any]:
    """Return header or query fields, from their table or from JSON."""
    sends = work.get("sendQuery" if what == "query" else "sendHeaders")
    if sends is False:
        return {}
    text = work.get("jsonQuery" if what == "query" else "jsonHeaders") or work.get(text_key)
    rows = [*work.names(f"{keys[0]}.parameters"), *work.names(f"{keys[1]}.parameter")]
    if isinstance(text, str) and text.strip("= ") and not rows:
        found = _object(work, text, what)
        return {name: _hidden(work, name, value, what) for name, value in found.items()}
    found = {}
    for row in rows:
        name = str(row.get("name", "")).removeprefix("=")
        if name and "{{" not in name:
            found[name] = _hidden(work, name, row.get("value", ""), what, raw=True)
    return found


def _hidden(work: NodeWork, name: str, value: Any, what: str, *, raw: bool = False) -> Any:
    """Return a field's value; a secret becomes a reference to a credential."""
    if raw and isinstance(value, str) and secret_value(name, value.removeprefix("=")):
        lead, _, rest = value.removeprefix("=").partition(" ")
        before = f"{lead} " if rest else ""
        return before + _secret(work, name, f"of its {what} fields")
    return work.value(value) if raw else value


def _object(work: NodeWork, text: str, what: str) -> dict[str, Any]:
    try:
        found = work.texts.json_text(text)
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict):
        return found
    work.texts.unfinished += 1
    return {
        f"X-Todo-{what}": "{{ "
        + work.texts.left(text, f"its {what} fields are not valid JSON")
        + " }}"
    }


def _body(work: NodeWork, headers: dict[str, Any]) -> dict[str, Any]:
    if work.get("sendBody") is False:
        return {}
    kind = work.word("contentType", work.word("options.bodyContentType", "json"))
    text = work.get("jsonBody") if kind == "json" else None
    text = text or work.get("bodyParametersJson")
    if isinstance(text, str) and text.strip("= "):
        return _json(work, text, headers)
    if kind in ("raw", "binaryData", "string") or work.word("specifyBody") == "string":
        return _raw(work, kind, headers)
    return _table(work, kind)


def _table(work: NodeWork, kind: str) -> dict[str, Any]:
    """Return the input `json`, `form` or `multipart` from the node's table; {} without fields."""
    rows = [*work.names("bodyParameters.parameters"), *work.names("bodyParametersUi.parameter")]
    values = {
        str(row["name"]): work.value(row.get("value", ""), str(row["name"]))
        for row in rows
        if isinstance(row.get("name"), str)
    }
    if not values:
        return {}
    if kind.startswith("form-urlencoded"):
        return {"form": {name: value for name, value in values.items() if "{{" not in name}}
    if kind.startswith("multipart"):
        if any(row.get("parameterType") == "formBinaryData" for row in rows):
            work.remark("It sent files as a form; name them by `path` in `multipart`.")
        return {"multipart": [{"name": n, "value": _as_text(v)} for n, v in values.items()]}
    return {"json": values}


def _json(work: NodeWork, text: str, headers: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"json": work.texts.json_text(text)}
    except (ValueError, RecursionError):
        work.remark("Its body is JSON only once its expressions are filled in; it is sent as text.")
        headers.setdefault("Content-Type", "application/json")
        return {"body": work.text(text)}


def _raw(work: NodeWork, kind: str, headers: dict[str, Any]) -> dict[str, Any]:
    if kind == "binaryData":
        work.texts.unfinished += 1
        return {"bodyBase64": "{{ " + work.texts.left("$binary", "files are not passed on") + " }}"}
    content_type = work.word("rawContentType")
    if content_type and "{{" not in content_type:
        headers.setdefault("Content-Type", content_type)
    return {"body": work.text(work.get("body", ""))}


def _options(work: NodeWork) -> dict[str, Any]:
    found: dict[str, Any] = {}
    timeout = work.get("options.timeout")
    if (
        isinstance(timeout, (int, float))
        and not isinstance(timeout, bool)
        and 0 < timeout <= 600_000
    ):
        seconds = max(timeout / 1000, 1.0)
        found["timeoutSeconds"] = int(seconds) if seconds.is_integer() else seconds
    never = work.get("options.response.response.neverError", work.get("options.ignoreResponseCode"))
    if never is True:
        found["acceptStatus"] = ["4xx", "5xx"]
    redirect = work.get(
        "options.redirect.redirect.followRedirects", work.get("options.followRedirect")
    )
    if redirect is False:
        found["followRedirects"] = False
    if work.get("options.allowUnauthorizedCerts", work.get("allowUnauthorizedCerts")) is True:
        work.remark("It accepted any certificate; in Valkyr, a server's certificate must be valid.")
    if work.word("options.response.response.responseFormat", work.word("responseFormat")) == "file":
        work.remark('It fetched a file; set "saveTo" to a path to store it, or read `body`.')
    return found


def _credential(work: NodeWork, headers: dict[str, Any]) -> str:
    if work.word("authentication", "none") == "none" and not work.node.credentials:
        return ""
    kind = work.word("genericAuthType")
    for was, name in work.node.credentials.items():
        if was in HEADER or kind in HEADER:
            own = work.credential("secret", was)
            headers.setdefault("Authorization", "{{ secrets." + own + " }}")
            work.remark(f'"{name}" set its own header; check whether it is Authorization.')
            return ""
        if was in QUERY or kind in QUERY:
            work.credential("secret", was)
            work.remark(f'"{name}" is a part of the address: add it to `query` as a secret.')
            return ""
        if was not in BASIC and was != "httpBearerAuth":
            work.remark(
                f'"{name}" ({was}) used n8n\'s own sign-in; use a token that does not expire.'
            )
        return work.credential("basic" if was in BASIC else "bearer", was)
    work.remark("It signed in; name a credential.")
    return ""


def _shape(work: NodeWork) -> Shape:
    full = work.get("options.response.response.fullResponse", work.get("options.fullResponse"))
    if full is True:
        return Shape(
            whole=work.output,
            base=work.output,
            named={("statusCode",): f"{work.output}.status"},
        )
    body = f"{work.output}.body"
    shape = one(body)
    # n8n passes a body that is not JSON on under a name.
    name = work.word(
        "options.response.response.outputPropertyName", work.word("dataPropertyName", "data")
    )
    if work.word("options.response.response.responseFormat", work.word("responseFormat")) in (
        "text",
        "string",
    ):
        return Shape(whole=None, base=None, named={(name,): body})
    return shape


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
