"""Tests of `rss.read`: feeds of every kind, unchanged feeds, and hostile feeds."""

from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from executions.definition.limits import limits
from runners.modules import registry
from runners.modules.base import Result, StepError
from runners.segment.step_context import Context

RSS = """<?xml version="1.0"?>
<rss version="2.0"><channel><title>Tea</title><link>http://tea.example/</link>
<description>News</description><language>en</language>
<item><title>Oolong</title><link>http://tea.example/1</link><guid isPermaLink="false">one</guid>
<pubDate>Sat, 21 Nov 2026 11:00:00 +0100</pubDate><category>green</category>
<description>&lt;b onclick="x()"&gt;Half&lt;/b&gt;&lt;script&gt;steal()&lt;/script&gt;</description>
<enclosure url="http://tea.example/1.mp3" length="123" type="audio/mpeg"/></item>
<item><title>Mint</title><link>http://tea.example/2</link></item>
</channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Tea</title>
<updated>2026-11-21T10:00:00Z</updated>
<entry><id>urn:1</id><title>Sencha</title><updated>2026-11-21T10:00:00Z</updated>
<author><name>Ann</name></author><content type="html">&lt;p&gt;Long&lt;/p&gt;</content></entry>
</feed>"""
LAUGHS = (
    '<!DOCTYPE rss [<!ENTITY a "ha"><!ENTITY b "'
    + "&a;" * 100
    + '"><!ENTITY c "'
    + "&b;" * 100
    + '"><!ENTITY d "'
    + "&c;" * 100
    + '">]><rss version="2.0"><channel><title>&d;</title>'
    "<item><title>x</title></item></channel></rss>"
)


class Feeds(ThreadingHTTPServer):
    """Serves one feed, with an ETag."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.feed = b""
        self.kind = "application/rss+xml"
        Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/feed"


class _Handler(BaseHTTPRequestHandler):
    server: Feeds

    def do_GET(self) -> None:
        known = self.headers.get("if-none-match") == '"v1"'
        body = b"" if known else self.server.feed
        self.send_response(304 if known else 200)
        self.send_header("ETag", '"v1"')
        self.send_header("Last-Modified", "Sat, 21 Nov 2026 10:00:00 GMT")
        self.send_header("Content-Type", self.server.kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture
def feeds(monkeypatch: pytest.MonkeyPatch) -> Iterator[Feeds]:
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "127.0.0.0/8")
    server = Feeds()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def read(feeds: Feeds, step_context: Context) -> Callable[..., Any]:
    def run(feed: str | bytes, **config: Any) -> Any:
        feeds.feed = feed if isinstance(feed, bytes) else feed.encode()
        result = registry.get("rss.read").run({"url": feeds.url, **config}, step_context)
        assert isinstance(result, Result)
        return result.outputs

    return run


def test_an_rss_feed_is_read_and_its_html_made_harmless(read: Callable[..., Any]) -> None:
    found = read(RSS)

    assert (found["changed"], found["damaged"], found["total"]) == (True, False, 2)
    assert found["feed"] == {
        "title": "Tea",
        "link": "http://tea.example/",
        "description": "News",
        "language": "en",
        "updated": None,
    }
    first, second = found["entries"]
    assert first == {
        "id": "one",
        "title": "Oolong",
        "link": "http://tea.example/1",
        "author": "",
        "summary": "<b>Half</b>",
        "content": "",
        "published": "2026-11-21T10:00:00+00:00",
        "updated": None,
        "categories": ["green"],
        "enclosures": [{"url": "http://tea.example/1.mp3", "type": "audio/mpeg", "length": "123"}],
    }
    assert second["id"] == "http://tea.example/2"


def test_an_atom_feed_is_read(read: Callable[..., Any]) -> None:
    (entry,) = read(ATOM)["entries"]

    assert (entry["id"], entry["author"], entry["content"]) == ("urn:1", "Ann", "<p>Long</p>")
    assert entry["updated"] == "2026-11-21T10:00:00+00:00"


def test_outputs_have_the_keys_their_schema_announces(read: Callable[..., Any]) -> None:
    announced = registry.specs()["rss.read"].outputs_schema

    assert announced is not None
    assert read(RSS).keys() == announced["properties"].keys()


def test_an_unchanged_feed_is_not_sent_again(read: Callable[..., Any]) -> None:
    first = read(RSS)
    second = read(RSS, etag=first["etag"], modified=first["modified"])

    assert (second["changed"], second["feed"], second["entries"]) == (False, None, [])
    assert (second["etag"], second["modified"]) == (first["etag"], first["modified"])
    assert second.keys() == first.keys()


def test_no_more_entries_are_yielded_than_wanted(read: Callable[..., Any]) -> None:
    found = read(RSS, limit=1)

    assert (found["count"], found["total"]) == (1, 2)


def test_entities_are_not_unfolded(read: Callable[..., Any]) -> None:
    found = read(LAUGHS)

    assert "haha" not in str(found)
    assert len(str(found)) < 10_000


def test_files_of_this_machine_do_not_come_in_by_an_entity(
    read: Callable[..., Any], tmp_path: Path
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("kept-to-ourselves")
    hostile = f'<!DOCTYPE rss [<!ENTITY x SYSTEM "file://{secret}">]>' + RSS.replace(
        "Oolong", "&x;"
    ).replace('<?xml version="1.0"?>', "")

    assert "kept-to-ourselves" not in str(read(hostile))


@pytest.mark.parametrize(
    "feed",
    [
        RSS[:-40],
        RSS.replace("<title>Tea</title>", "<title>Tea & Co</title>"),
        RSS.encode().replace(b"Tea", b"T\xe9\xff"),
        RSS.replace("Oolong", "Oo\x00long"),
        RSS.replace('"1.0"?', '"1.0" encoding="utf-16"?').encode("utf-16"),
    ],
    ids=["truncated", "bare ampersand", "mis-encoded", "NUL", "utf-16"],
)
def test_a_damaged_feed_is_read_as_far_as_it_goes(
    read: Callable[..., Any], feed: str | bytes
) -> None:
    found = read(feed)

    assert found["total"] >= 1
    assert "\x00" not in str(found)


def test_a_bare_title_of_a_file_is_no_path_to_it(read: Callable[..., Any], tmp_path: Path) -> None:
    feed = tmp_path / "feed.xml"
    feed.write_text(RSS)

    with pytest.raises(StepError, match="is not a feed"):
        read(str(feed))


def test_a_feed_is_not_read_in_a_process_of_others_steps() -> None:
    # feedparser takes time that grows with the square of the length for, say, open comments.
    module = registry.get("rss.read")

    assert module.computes
    assert module.queue not in limits().thread_queues
