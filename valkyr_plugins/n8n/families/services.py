"""Convert the nodes of services into `http.request`, using the table in `services`."""

from typing import Any

from executions.public.templates import todo
from valkyr_plugins.n8n.mapping import Left, Made, NodeWork, family, plain
from valkyr_plugins.n8n.services import SERVICES
from valkyr_plugins.n8n.services.calls import Service, ServiceCall
from valkyr_plugins.n8n.services.values import OMIT, address, filled, given, listed
from valkyr_plugins.n8n.shape import Shape, many, path

RENEWED = ("OAuth2", "oAuth2", "googleApi")


@family(*SERVICES)
def service(work: NodeWork) -> Made:
    """Make an `http.request` task from the table, or `email.send` to send by Gmail. Raises Left."""
    entry = SERVICES[work.node.kind]
    resource = work.word("resource", entry.resource(work))
    operation = work.word("operation", entry.operations.get(resource, ""))
    name = f"{resource}: {operation}"
    if work.node.kind == "gmail" and name == "message: send":
        return _mail(work)
    call = entry.calls.get(name)
    if call is None:
        raise Left(
            f"its operation is {name[:80]}, which the import cannot translate to one request "
            f"of {entry.name}'s API; see {entry.docs} and use http.request"
        )
    return _request(work, entry, call)


def _request(work: NodeWork, entry: Service, call: ServiceCall) -> Made:
    work.remark(
        f"It is a request to {entry.name}'s API ({entry.docs}): the response is in "
        "output.body, in the API's format, not in n8n's."
    )
    if call.remark:
        work.remark(call.remark)
    secret, credential = _signed(work, entry)
    before = []
    if call.first is not None:
        work.earlier = work.also("rows")
        inputs = _inputs(work, entry, call.first, secret)
        before.append(_before(work, inputs, credential))
    made = work.made(
        "http.request", _inputs(work, entry, call, secret), _shape(work, entry, call),
        credential=credential,
    )  # fmt: skip
    made.before = before
    return made


def _before(work: NodeWork, inputs: dict[str, Any], credential: str) -> dict[str, Any]:
    """Return the task that sends a request before the node's own request."""
    task: dict[str, Any] = {
        "id": work.earlier, "name": f"{work.node.name}: rows"[:200], "use": "http.request",
        "with": inputs, "ui": {"x": work.node.x, "y": work.node.y - 120},
    }  # fmt: skip
    return task | ({"credential": credential} if credential else {})


def _inputs(work: NodeWork, entry: Service, call: ServiceCall, secret: str) -> dict[str, Any]:
    """Return the `with` of a service's HTTP request."""
    parts = {"site": lambda work: _site(work, entry), **call.parts}
    inputs: dict[str, Any] = {
        "method": call.method,
        "url": address(work, call.url, parts, secret),
    }
    query = filled(work, call.query if callable(call.query) else dict(call.query))
    if query and query is not OMIT:
        inputs["query"] = query
    if call.body is not None:
        inputs["body"] = call.body(work)
    elif call.json is not None:
        sent = filled(work, call.json)
        inputs["json"] = {} if sent is OMIT else sent
    elif call.form is not None:
        inputs["form"] = filled(work, call.form)
    headers = {**entry.headers, **call.headers}
    if headers:
        own = "{{ secrets." + secret + " }}"
        inputs["headers"] = {key: one.replace("{secret}", own) for key, one in headers.items()}
    return inputs


def _site(work: NodeWork, entry: Service) -> str:
    """Return the service's address as a variable, because n8n keeps the address in a credential."""
    name = work.sight.variable(f"{plain(entry.name)}_address")
    work.remark(
        f"The export does not have the address of {entry.name}: give vars.{name} its value."
    )
    return "{{ vars." + str(name) + " }}"


def _signed(work: NodeWork, entry: Service) -> tuple[str, str]:
    """Return the names of the secret and of the credential for the request; "" for none."""
    if not entry.sign:
        return "", ""
    kind = entry.sign
    was = next(iter(work.node.credentials), "")
    own = work.credential(kind) or work.secret(plain(entry.name), kind, entry.name)
    if entry.scope:
        work.remark(f"It signs in with a credential of type {kind}: {entry.scope}.")
    if any(word in was for word in RENEWED):
        work.remark(
            "n8n renewed its token automatically: use a credential of type oauth2 with its "
            "refresh token."
        )
    return (own, "") if kind == "secret" else ("", own)


def _shape(work: NodeWork, entry: Service, call: ServiceCall) -> Shape:
    body = f"{work.output}.body"
    why = f"{entry.name}'s API responds in a different format than n8n's node: see output.body"
    if call.items:
        items = body if call.items == "." else path(body, tuple(call.items.split(".")))
        found = many(f"{items}[1:]" if call.items == "values" else items, call.each)
        return Shape(items=found.items, each=call.each, within=call.within, why=(
            why if call.within is None else found.why
        ))  # fmt: skip
    if call.result:
        body = path(body, tuple(call.result.split(".")))
    return Shape(items=body, each=call.each, within=call.within, why=why).of_item(body)


def _mail(work: NodeWork) -> Made:
    """Convert a Gmail node to `email.send`: templates cannot create the MIME that Gmail needs."""
    work.remark("It is sent by SMTP: use smtp.gmail.com, an app password, and the sender.")
    work.texts.unfinished += 1
    inputs: dict[str, Any] = {"from": todo("the address of the account")}
    to = filled(work, listed("sendTo|toList"))
    if to is OMIT:
        work.texts.unfinished += 1
        to = todo("who gets it")
    inputs["to"] = to
    inputs["subject"] = work.text(work.get("subject", ""))
    for ours, theirs in (("cc", "ccList"), ("bcc", "bccList")):
        found = filled(work, listed(f"options.{theirs}|additionalFields.{theirs}"))
        if found is not OMIT:
            inputs[ours] = found
    if (reply := given(work, "options.replyTo")) is not None:
        inputs["replyTo"] = work.text(reply)
    kind = work.word("emailType", "html" if work.node.version >= 2 else "text")
    inputs["html" if kind == "html" else "text"] = work.text(work.get("message", ""))
    if work.get("options.attachmentsUi") or work.get("additionalFields.attachmentsUi"):
        work.remark("It sent files along, which email.send does not.")
    own = work.secret("gmail_smtp", "smtp", "Gmail by SMTP")
    return work.made("email.send", inputs, credential=own)
