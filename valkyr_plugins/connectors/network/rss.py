"""`rss.read`: inputs and outputs; feed.py reads the feed."""

from typing import Any, ClassVar

from pydantic import Field

from runners.public.modules import Bad, ErrorType, Module, ModuleOutputs, Result, StepContext
from valkyr_plugins.connectors.network.request_parts import MEBIBYTE, AddressedInputs, target


class RssReadInputs(AddressedInputs):
    """The feed, and the validators of the last read."""

    limit: int = Field(100, ge=1, le=1_000, description="Maximum number of entries.")
    etag: str | None = Field(
        None,
        description="The `etag` of the last read.",
        examples=["{{ vars.etag }}"],
        max_length=1_000,
    )
    modified: str | None = Field(
        None,
        description="The `modified` of the last read.",
        examples=["Sat, 21 Nov 2026 10:00:00 GMT"],
        max_length=100,
    )
    max_bytes: int = Field(
        2 * MEBIBYTE,
        ge=1,
        le=10 * MEBIBYTE,
        description="A feed with more bytes than this fails the step. Reading takes up to 4 s per "
        "MiB.",
    )


class FeedSaid(ModuleOutputs):
    """The feed's description of itself."""

    title: str = Field(description="Its title.")
    link: str = Field(description="The address of the feed's page.")
    description: str = Field(description="The feed's description.")
    language: str = Field(description="Its language, such as `en`.")
    updated: str | None = Field(description="When it was last changed, in ISO 8601, or null.")


class Enclosure(ModuleOutputs):
    """A file that belongs to an entry, such as a podcast's audio."""

    url: str = Field(description="Its address.")
    type: str = Field(description="Its media type.")
    length: str = Field(description="Its size in bytes, as the feed says.")


class FeedEntry(ModuleOutputs):
    """An entry of a feed. Missing strings are empty, and missing times are null."""

    id: str = Field(description="The entry's id, or otherwise its link.")
    title: str = Field(description="Its title.")
    link: str = Field(description="Its page.")
    author: str = Field(description="The author.")
    summary: str = Field(description="A short text, as sanitised HTML.")
    content: str = Field(description="The full text, as sanitised HTML.")
    published: str | None = Field(description="When it was published, in ISO 8601 and UTC.")
    updated: str | None = Field(description="When it was last changed, in ISO 8601 and UTC.")
    categories: list[str] = Field(description="The entry's categories.")
    enclosures: list[Enclosure] = Field(description="Files: url, type, length.")


class RssReadOutputs(ModuleOutputs):
    """A feed and its entries."""

    changed: bool = Field(
        description="False if the feed has not changed since the read that returned `etag` or "
        "`modified`."
    )
    feed: FeedSaid | None = Field(description="The feed; null if it has not changed.")
    entries: list[FeedEntry] = Field(description="The feed's entries, in the feed's order.")
    count: int = Field(description="The number of entries returned.")
    total: int = Field(description="Number of entries in the feed.")
    etag: str | None = Field(description="The `etag` for the next read.")
    modified: str | None = Field(description="The `modified` for the next read.")
    url: str = Field(description="The address of the feed, after redirects.")
    damaged: bool = Field(description="Whether the feed's XML was malformed.")


class RssRead(Module[RssReadInputs]):
    """Reads an RSS, Atom or RDF feed.

    With the `etag` or `modified` of the last read, the server need not send an unchanged feed
    again. HTML in the entries is sanitised: scripts, style sheets, frames and event handlers are
    removed; forms, images and harmless inline styles remain. External DTDs and external entities
    are never fetched. Other XML entities are expanded only up to the parser's limit.
    """

    type = "rss.read"
    title = "RSS and Atom"
    category = "network"
    # A hostile feed may stall the parser, which is C code, so run no other step beside it.
    queue = "default"
    computes = True
    effect = "none"
    credential = ("bearer", "basic")
    judges_hosts = "everything"
    addresses = ("url",)
    circuit_target = "the host, with the port if it is not the default (as for http.request)"
    example: ClassVar[Any] = {
        "url": "https://blog.example.com/feed.xml",
        "etag": "{{ vars.etag }}",
        "limit": 20,
    }
    bad_inputs = (
        Bad("a page that is not a feed", {"url": "{server}/page"}, "is not a feed", needs="http"),
        Bad("JSON", {"url": "{server}/good"}, "is not a feed", needs="http"),
        Bad("nothing", {"url": "{server}/empty"}, "is not a feed", needs="http"),
        Bad("an endless feed", {"url": "{server}/endless"}, "raise maxBytes", needs="http"),
        Bad("64 KiB that unpack to 64 MiB", {"url": "{server}/gzip-bomb"}, "raise maxBytes",
            needs="http"),
        Bad("a feed that ends early", {"url": "{server}/cut"}, "RemoteProtocolError",
            ErrorType.TRANSIENT, needs="http"),
        Bad("local files", {"url": "file:///etc/passwd"}, "http:// or https://"),
        Bad("too many entries", {"url": "https://a.example/", "limit": 100_000},
            "less than or equal to 1000"),
    )  # fmt: skip
    Inputs = RssReadInputs
    Outputs: ClassVar[Any] = RssReadOutputs

    def circuit(self, inputs: RssReadInputs) -> str | None:
        return target(inputs.url)

    def warm_up(self) -> None:
        import valkyr_plugins.connectors.network.feed  # noqa: F401 - loads httpx and feedparser

    def execute(self, inputs: RssReadInputs, ctx: StepContext) -> Result:
        from valkyr_plugins.connectors.network.feed import read_feed

        return Result(read_feed(inputs, ctx))
