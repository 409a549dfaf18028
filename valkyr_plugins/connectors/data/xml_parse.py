"""`data.xml_parse`: convert XML to objects and lists, following xmltodict's conventions."""

from typing import TYPE_CHECKING, Any, cast

from pydantic import Field

from runners.public.modules import (
    Bad,
    Module,
    ModuleInputs,
    ModuleOutputs,
    Result,
    StepContext,
    StepError,
)
from valkyr_plugins.connectors.data.bounds import checked_text, without_nul

if TYPE_CHECKING:
    from xml.parsers.expat import XMLParserType


BILLION_LAUGHS = (
    '<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]><l>&b;</l>'
)


class XmlParseInputs(ModuleInputs):
    """The XML text to parse, and how to convert it."""

    text: str = Field(
        description="The XML text. A declared encoding is ignored, because the input is already "
        "text.",
        examples=["<order id='17'><item>tea</item></order>"],
    )
    lists: list[str] = Field(
        default_factory=list,
        max_length=1_000,
        description=(
            "Elements that become a list even if they occur once. Otherwise, a single element is "
            "an object or a text, and several elements are a list."
        ),
        examples=[["item"]],
    )
    attribute_prefix: str = Field("@", max_length=10, description="Prefix of attribute names.")
    text_key: str = Field(
        "#text", min_length=1, max_length=50, description="The key of an element's own text."
    )
    namespaces: dict[str, str] | None = Field(
        None,
        description=(
            "Short names for namespaces, by URI. A short name becomes the prefix of the names in "
            "its namespace (`atom:title`); an empty short name removes their prefix. Names in "
            "other namespaces get the URI as their prefix. By default, names stay as written."
        ),
        examples=[{"http://www.w3.org/2005/Atom": ""}],
    )


class XmlParseOutputs(ModuleOutputs):
    """The parsed document."""

    data: Any = Field(description="An object with the root element's name as its only key.")


class XmlParse(Module[XmlParseInputs]):
    """Converts XML to objects and lists.

    `<a k="1"><b>x</b><b>y</b></a>` becomes `{"a": {"@k": "1", "b": ["x", "y"]}}`; an empty element
    without attributes is null, and numbers remain text. External DTDs are not fetched, and a
    document that declares entities fails the step.
    """

    type = "data.xml_parse"
    title = "Parse XML"
    category = "data"
    computes = True
    takes_secrets = False
    retry = "none"
    Inputs = XmlParseInputs
    Outputs = XmlParseOutputs
    example = {"text": "{{ tasks.fetch.output.body }}", "lists": ["item"]}
    bad_inputs = (
        Bad("an incomplete document", {"text": "<a><b>x"}, "is not XML at line 1"),
        Bad("a text that is not XML", {"text": "id,total\n"}, "is not XML at line 1"),
        Bad("an empty text", {"text": ""}, "no element found"),
        Bad(
            "an entity expansion attack (billion laughs)",
            {"text": BILLION_LAUGHS},
            "declares entities",
        ),
        Bad(
            "a file of the server as an entity",
            {"text": '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'},
            "declares entities",
        ),
        Bad(
            "an external entity",
            {"text": '<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd"><a>&x;</a>'},
            "uses the entity 'x', which it does not declare",
        ),
        Bad("100,000 nested elements", {"text": "<a>" * 100_000}, "more than 256 levels deep"),
        Bad(
            "a document of 10 MiB",
            lambda: {"text": f"<a>{'x' * 10_485_760}</a>"},
            "at most 5,242,880",
        ),
        Bad("binary data", {"text": "<a>\x00</a>"}, "contains a NUL character"),
        Bad("a lone surrogate", {"text": "<a>\ud800</a>"}, "lone surrogate (U+D800)"),
    )

    def execute(self, inputs: XmlParseInputs, ctx: StepContext) -> Result:
        import xmltodict

        text = without_nul(checked_text(inputs.text, "the XML"), "the XML")
        require_harmless(text)
        try:
            data = xmltodict.parse(
                text,
                disable_entities=True,
                attr_prefix=inputs.attribute_prefix,
                cdata_key=inputs.text_key,
                force_list=tuple(inputs.lists) or None,
                **_namespaces(inputs.namespaces),
            )
        except ValueError as error:
            raise StepError(f"the XML cannot be read: {error}") from error
        return Result({"data": data})


def _namespaces(named: dict[str, str] | None) -> dict[str, Any]:
    if named is None:
        return {}
    # xmltodict omits a namespace prefix that is None.
    short = {uri: name or None for uri, name in named.items()}
    return cast("dict[str, Any]", {"process_namespaces": True, "namespaces": short})


# Check an XML text before it is parsed: it must be well formed, not too deep, and without entities.
#
# XML attacks use entities: some multiply (a billion laughs), others refer to a file or an address.
# Current feeds and interfaces do not need entities, so a document that declares them is rejected.


MAX_DEPTH = 256


def require_harmless(text: str) -> None:
    """Raise StepError for a harmful or invalid document; syntax errors name the line and column."""
    from xml.parsers import expat

    parser = expat.ParserCreate("utf-8")
    # Text needs no check, so let the parser join chunks, which takes fewer calls.
    parser.buffer_text = True
    _bound_depth(parser)
    parser.EntityDeclHandler = _declared
    parser.SkippedEntityHandler = _skipped
    try:
        parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        reason = expat.errors.messages[error.code]
        raise StepError(
            f"the text is not XML at line {error.lineno}, column {error.offset + 1}: {reason}"
        ) from None


def _bound_depth(parser: "XMLParserType") -> None:
    depth = 0

    def started(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise StepError(f"the XML is nested more than {MAX_DEPTH} levels deep: flatten it")

    def ended(name: str) -> None:
        nonlocal depth
        depth -= 1

    parser.StartElementHandler = started
    parser.EndElementHandler = ended


def _declared(name: str, *_: object) -> None:
    raise StepError(
        f"the XML declares entities ({name[:50]!r}), which are not supported: write their values "
        "instead"
    )


def _skipped(name: str, is_parameter: bool) -> None:
    raise StepError(
        f"the XML uses the entity {name[:50]!r}, which it does not declare; other documents are "
        "not fetched"
    )
