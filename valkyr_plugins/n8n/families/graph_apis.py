"""Convert nodes for GraphQL and for Facebook's Graph API."""

from typing import Any

from valkyr_plugins.n8n.mapping import Left, Made, NodeWork, family
from valkyr_plugins.n8n.shape import Shape, one
from valkyr_plugins.n8n.texts import is_expression


def is_text(raw: Any) -> bool:
    """Return whether a parameter is a non-blank string that is not an expression."""
    return isinstance(raw, str) and bool(raw.strip()) and not is_expression(raw)


@family("facebookGraphApi")
def graph_api(work: NodeWork) -> Made:
    """Make an `http.request` task for the node's request to the Graph API."""
    version = work.text(work.word("graphApiVersion", "v22.0"))
    node, edge = work.text(work.get("node", "")), work.text(work.get("edge", ""))
    host = work.text(work.word("hostUrl", "graph.facebook.com"))
    place = "/".join(part.strip("/") for part in (node, edge) if part)
    if not place:
        work.texts.unfinished += 1
        place = "{{ " + work.texts.left("node", "the file does not say it") + " }}"
    method = work.word("httpRequestMethod", "GET").upper()
    inputs: dict[str, Any] = {"method": method, "url": f"https://{host}/{version}/{place}"}
    rows = work.names("options.queryParameters.parameter")
    query = {
        str(row.get("name")): work.value(row.get("value"), str(row.get("name"))) for row in rows
    }
    named = [row.get("name") for row in work.names("options.fields.field")]
    fields = [work.text(name) for name in named if name]
    if fields:
        query["fields"] = ",".join(fields)
    raw = work.get("options.queryParametersJson")
    if isinstance(raw, str) and raw.strip("= "):
        try:
            query |= dict(work.texts.json_text(raw))
        except (ValueError, TypeError, RecursionError):
            query["todo"] = "{{ " + work.texts.left(raw, "it is not valid JSON") + " }}"
    if work.get("sendBinaryData") is True:
        work.remark("It sent a file of n8n's: send it in `multipart`.")
    if query:
        inputs["query"] = {work.texts.key(key): value for key, value in query.items()}
    own = work.credential("bearer") or work.secret("facebook", "bearer", "Facebook Graph")
    work.remark("It is a request to the Graph API: the answer is in output.body.")
    return work.made("http.request", inputs, one(f"{work.output}.body"), credential=own)


@family("graphql")
def graphql(work: NodeWork) -> Made:
    """Make a `graphql.query` task. Raises Left if the query is missing or an expression."""
    raw = work.get("query", "")
    if not is_text(raw):
        raise Left("its query is worked out; write it with variables, as graphql.query")
    inputs: dict[str, Any] = {"url": work.text(work.get("endpoint", "")), "query": raw}
    variables = work.get("variables")
    if isinstance(variables, str) and variables.strip("= "):
        try:
            inputs["variables"] = work.texts.json_text(variables)
        except (ValueError, RecursionError):
            inputs["variables"] = "{{ " + work.texts.left(variables, "it is not valid JSON") + " }}"
    work.remark("The answer's data are in output.data, and not in data of the item.")
    shape = Shape(named={("data",): f"{work.output}.data"}, why="see output.data")
    return work.made("graphql.query", inputs, shape, credential=work.credential("bearer"))
