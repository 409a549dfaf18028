"""HTML, XML and RSS."""

from typing import Any

from valkyr_plugins.n8n.shape import Keys, Shape, many, one
from valkyr_plugins.n8n.work import Left, Made, NodeWork, family

RSS_NAMES: dict[Keys, Keys] = {
    ("pubDate",): ("published",),
    ("isoDate",): ("published",),
    ("contentSnippet",): ("summary",),
    ("creator",): ("author",),
    ("guid",): ("id",),
}
GETS = {"text": "text", "html": "html", "attribute": "attribute", "value": "attribute"}


@family("rssFeedRead")
def rss(work: NodeWork) -> Made:
    """`rss.read`; its entries are the items."""
    url = work.get("url")
    if not isinstance(url, str) or not url.strip("= "):
        raise Left("it has no address")
    shape = many(f"{work.output}.entries", RSS_NAMES)
    return work.made("rss.read", {"url": work.text(url.strip())}, shape)


@family("xml")
def xml(work: NodeWork) -> Made:
    """`data.xml_parse`."""
    if work.word("mode", "xmlToJson") != "xmlToJson":
        raise Left("it writes XML; write it as the text of a data.template")
    text = _field(work, work.word("dataPropertyName", "data"))
    work.remark("Attributes are read as @name, an element's own text as #text.")
    return work.made("data.xml_parse", {"text": text}, one(f"{work.output}.data"))


@family("html", "htmlExtract")
def html(work: NodeWork) -> Made:
    """`data.html_extract`, or `data.template` for a page that is made."""
    operation = work.word("operation", "generateHtmlTemplate")
    if work.node.kind == "htmlExtract" or operation == "extractHtmlContent":
        return _extract(work)
    if operation != "generateHtmlTemplate":
        raise Left("it makes a table of items; write it as the text of a data.template")
    raw = work.get("html", "")
    text = work.text(raw if str(raw).startswith("=") else f"={raw}")
    return work.made(
        "data.template", {"text": text}, Shape(named={("html",): f"{work.output}.text"})
    )


def _extract(work: NodeWork) -> Made:
    if work.word("sourceData", "json") != "json":
        raise Left("it reads a file; read the page by http.request")
    fields: dict[str, Any] = {}
    for row in work.names("extractionValues.values"):
        name, selector = row.get("key"), row.get("cssSelector")
        if not (isinstance(name, str) and isinstance(selector, str) and name and selector):
            raise Left("a value that it reads has no name, or no selector")
        fields[name] = _value(work, row, selector)
    if not fields:
        raise Left("it does not say what it reads")
    page = _field(work, work.word("dataPropertyName", "data"))
    return work.made(
        "data.html_extract", {"html": page, "fields": fields}, one(f"{work.output}.data")
    )


def _value(work: NodeWork, row: dict[str, Any], selector: str) -> dict[str, Any]:
    how = GETS.get(str(row.get("returnValue", "text")), "text")
    found: dict[str, Any] = {"selector": work.text(selector), "get": how}
    if how == "attribute":
        found["attribute"] = str(row.get("attribute") or "value")
    if row.get("returnArray") is True:
        found["all"] = True
    return found


def _field(work: NodeWork, name: str) -> str:
    """The text in a field of what reaches the node: a page's is the body itself."""
    whole = work.shape.whole
    if name == "data" and whole is not None and whole.endswith(".body"):
        return "{{ " + whole + " }}"
    found = work.shape.read((name,))
    if found is not None:
        return "{{ " + found + " }}"
    return "{{ " + work.texts.left(f"$json.{name}", work.shape.why) + " }}"
