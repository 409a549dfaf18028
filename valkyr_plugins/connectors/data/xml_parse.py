"""`data.xml_parse`: XML becomes objects and lists, by the customs of xmltodict."""

from typing import Any, cast

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

BILLION_LAUGHS = (
    '<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]><l>&b;</l>'
)


class XmlParseInputs(ModuleInputs):
    """What to read, and what becomes of it."""

    text: str = Field(
        description="The XML text. An encoding that it declares is not looked at: it is text now.",
        examples=["<order id='17'><item>tea</item></order>"],
    )
    lists: list[str] = Field(
        default_factory=list,
        max_length=1_000,
        description=(
            "Elements that are always a list, also where there is one: else one is an object or a "
            "text, and several are a list."
        ),
        examples=[["item"]],
    )
    attribute_prefix: str = Field(
        "@", max_length=10, description="Stands before the names of attributes."
    )
    text_key: str = Field(
        "#text", min_length=1, max_length=50, description="The key of an element's own text."
    )
    namespaces: dict[str, str] | None = Field(
        None,
        description=(
            "Short names for namespaces, by their URIs; an empty one leaves it out, and a "
            "namespace that is not named stands before the name with a colon. Unless given, names "
            "stay as they are written."
        ),
        examples=[{"http://www.w3.org/2005/Atom": ""}],
    )


class XmlParseOutputs(ModuleOutputs):
    """What was read."""

    data: Any = Field(description="An object with the root element's name as its one key.")


class XmlParse(Module[XmlParseInputs]):
    """Reads XML into objects and lists.

    `<a k="1"><b>x</b><b>y</b></a>` becomes `{"a": {"@k": "1", "b": ["x", "y"]}}`; an empty element
    is null, and all values are text. Nothing is fetched, and a document that declares entities
    fails.
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
        Bad("a document cut off", {"text": "<a><b>x"}, "is not XML at line 1"),
        Bad("no XML at all", {"text": "id,total\n"}, "is not XML at line 1"),
        Bad("an empty text", {"text": ""}, "no element found"),
        Bad("a billion laughs", {"text": BILLION_LAUGHS}, "declares entities"),
        Bad(
            "a file of the server as an entity",
            {"text": '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'},
            "declares entities",
        ),
        Bad(
            "an entity of a document elsewhere",
            {"text": '<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd"><a>&x;</a>'},
            "uses the entity 'x', which it does not declare",
        ),
        Bad("100,000 elements in each other", {"text": "<a>" * 100_000}, "more than 256 deep"),
        Bad(
            "a document of 10 MiB",
            lambda: {"text": f"<a>{'x' * 10_485_760}</a>"},
            "at most 5,242,880",
        ),
        Bad("binary data", {"text": "<a>\x00</a>"}, "holds a NUL character"),
        Bad("a lone surrogate", {"text": "<a>\ud800</a>"}, "lone surrogate (U+D800)"),
    )

    def execute(self, inputs: XmlParseInputs, ctx: StepContext) -> Result:
        import xmltodict

        from valkyr_plugins.connectors.data.xml_check import require_harmless

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
    # xmltodict leaves a namespace out by None.
    short = {uri: name or None for uri, name in named.items()}
    return cast("dict[str, Any]", {"process_namespaces": True, "namespaces": short})
