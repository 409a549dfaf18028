"""`data.html_extract`: extract named values and nested records from a page, using CSS selectors."""

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, field_validator, model_validator

from runners.public.modules import (
    Bad,
    ErrorType,
    Module,
    ModuleInputs,
    ModuleOutputs,
    Result,
    StepContext,
    StepError,
)
from valkyr_plugins.connectors.data.bounds import MAX_BYTES, checked_text
from valkyr_plugins.connectors.data.html_document import taken_apart

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    from valkyr_plugins.connectors.data.html_document import Document

MAX_MATCHES = 10_000
MAX_FIELDS = 200


class HtmlField(ModuleInputs):
    """A field to read: one value or object, or a list of them."""

    selector: str = Field(
        "",
        description="A CSS selector within the field's element; by default, that element itself.",
        examples=["li.product > a"],
    )
    get: Literal["text", "html", "attribute", "fields"] = Field(
        "text",
        description=(
            "text: all text in the element, with normalised white space. html: the element as "
            "HTML. attribute: the value of `attribute`. fields: an object with `fields`."
        ),
    )
    attribute: str = Field("", max_length=200, description="The attribute's name, such as href.")
    all: bool = Field(
        False,
        description="Whether to return a list of all matching elements; otherwise the "
        "first, or null for none.",
    )
    required: bool = Field(False, description="Whether the step fails if no element matches.")
    fields: "dict[str, str | HtmlField]" = Field(
        default_factory=dict,
        max_length=MAX_FIELDS,
        description="With get: fields: the values to read within each element.",
    )

    @field_validator("selector")
    @classmethod
    def _selector_parses(cls, selector: str) -> str:
        if selector:
            taken_apart(selector)
        return selector

    @model_validator(mode="after")
    def _goes_together(self) -> "HtmlField":
        if (self.get == "attribute") != bool(self.attribute):
            raise ValueError("attribute requires get: attribute, and the reverse")
        if (self.get == "fields") != bool(self.fields):
            raise ValueError("fields requires get: fields, and the reverse")
        return self


class HtmlExtractInputs(ModuleInputs):
    """The page, and the fields to read from it."""

    html: str = Field(description="The page as HTML.", examples=["{{ tasks.fetch.output.body }}"])
    fields: dict[str, str | HtmlField] = Field(
        min_length=1,
        max_length=MAX_FIELDS,
        description=(
            "The values to read, by name. A text is a selector; the value is the text of the first "
            "matching element."
        ),
        examples=[{"title": "h1", "links": {"selector": "a", "get": "attribute",
                                            "attribute": "href", "all": True}}],
    )  # fmt: skip

    @field_validator("fields")
    @classmethod
    def _selectors_parse(cls, fields: dict[str, Any]) -> Any:
        for name, field in fields.items():
            if isinstance(field, str):
                try:
                    taken_apart(field)
                except ValueError as error:
                    raise ValueError(f"{name}: {error}") from error
        return fields


class HtmlExtractOutputs(ModuleOutputs):
    """The values that the selectors found."""

    data: dict[str, Any] = Field(description="The values, by field name.")


class HtmlExtract(Module[HtmlExtractInputs]):
    """Extracts values and lists of records from an HTML page, using CSS selectors.

    The page is parsed as in browsers, so invalid HTML works, but scripts do not run. A field with
    `get: fields` and `all: true` yields a list with an object for each matching element.
    """

    type = "data.html_extract"
    title = "Extract from HTML"
    category = "data"
    computes = True
    takes_secrets = False
    retry = "none"
    Inputs = HtmlExtractInputs
    Outputs = HtmlExtractOutputs
    example = {
        "html": "{{ tasks.fetch.output.body }}",
        "fields": {
            "title": "h1",
            "products": {
                "selector": "li.product",
                "all": True,
                "get": "fields",
                "fields": {
                    "name": "h2",
                    "link": {"selector": "a", "get": "attribute", "attribute": "href"},
                },
            },
        },
    }
    bad_inputs = (
        Bad(
            "an incomplete selector",
            {"html": "<p>x", "fields": {"a": "p[title"}},
            "'[' is not closed",
        ),
        Bad("an invalid selector", {"html": "<p>x", "fields": {"a": "p$"}}, "not a CSS selector"),
        Bad(
            "a selector that would run for hours",
            {"html": "<div>" * 3_000, "fields": {"a": "a div div div div"}},
            "is nested too deeply",
        ),
        Bad(
            "a pseudo-class that scans the whole page",
            {"html": "<p>", "fields": {"a": "p:has(a)"}},
            "':has' is not supported",
        ),
        Bad(
            "counting among 100,000 siblings",
            lambda: {"html": "<li>" * 100_000, "fields": {"a": "li:nth-child(2)"}},
            "counts siblings",
        ),
        Bad(
            "1,000,000 nested elements",
            lambda: {"html": "<div>" * 1_000_000, "fields": {"a": "div"}},
            "is nested too deeply",
        ),
        Bad(
            "nested elements, each with its HTML",
            {
                "html": "<div>" * 500 + "x" * 100_000,
                "fields": {"a": {"selector": "div", "get": "html", "all": True}},
            },
            "more than 5,242,880 bytes",
        ),
        Bad(
            "a required value that is missing",
            {"html": "\x89PNG\x00", "fields": {"a": {"selector": "h1", "required": True}}},
            "no element matches 'h1'",
        ),
        Bad(
            "a page of 10 MiB",
            lambda: {"html": "x" * 10_485_760, "fields": {"a": "p"}},
            "at most 5,242",
        ),
        Bad("a lone surrogate", {"html": "<p>\ud800", "fields": {"a": "p"}}, "lone surrogate"),
    )

    def warm_up(self) -> None:
        import selectolax.lexbor  # noqa: F401 - a library of several megabytes

    def execute(self, inputs: HtmlExtractInputs, ctx: StepContext) -> Result:
        from valkyr_plugins.connectors.data.html_document import Document

        document = Document(checked_text(inputs.html, "the HTML"))
        if document.root is None:
            raise StepError("the HTML has no element")
        return Result({"data": _Reader(document, ctx).record(inputs.fields, document.root)})


class _Reader:
    """Reads fields within elements, and limits the total size of the values."""

    def __init__(self, document: "Document", ctx: StepContext) -> None:
        self._document = document
        self._ctx = ctx
        self._bytes = 0

    def record(self, fields: dict[str, Any], within: "LexborNode") -> dict[str, Any]:
        """Return the values of the fields within an element, keyed by name."""
        return {
            name: self._value(name, field, within)
            for name, field in (
                (name, HtmlField(selector=field) if isinstance(field, str) else field)
                for name, field in fields.items()
            )
        }

    def _value(self, name: str, field: HtmlField, within: "LexborNode") -> Any:
        found = self._document.find(field.selector, within) if field.selector else [within]
        if not found and field.required:
            raise StepError(f"{name}: no element matches {field.selector!r}, which is required")
        if len(found) > MAX_MATCHES and field.all:
            raise StepError(
                f"{name}: {len(found):,} elements match {field.selector!r}, more than "
                f"{MAX_MATCHES:,}: select fewer"
            )
        if field.all:
            return [self._read(field, node) for node in found]
        return self._read(field, found[0]) if found else None

    def _read(self, field: HtmlField, node: "LexborNode") -> Any:
        if self._ctx.remaining() <= 0:
            raise StepError("the step's timeout passed", ErrorType.TIMEOUT)
        if field.get == "fields":
            return self.record(field.fields, node)
        if field.get == "attribute":
            return self._counted(node.attributes.get(field.attribute.lower()))
        if field.get == "html":
            return self._counted(node.html)
        return self._counted(" ".join(node.text().split()))

    def _counted(self, text: str | None) -> str | None:
        self._bytes += 4 if text is None else len(text) + 2
        if self._bytes > MAX_BYTES:
            raise StepError(f"the values are more than {MAX_BYTES:,} bytes long: select less")
        return text.replace("\x00", "\ufffd") if text is not None and "\x00" in text else text
