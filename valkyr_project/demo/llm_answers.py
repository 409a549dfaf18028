"""What the demo's model says: always the same to the same request, so that examples can be checked.

It has read nothing and knows nothing. Asked for data, it fills the schema in; asked for a text, it
writes as many words as a line `Words:` of the prompt wants, about what `Chapter:` and `Keywords:`
say. Its first draft of a chapter about methods is too thin, so that there is something to refine.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

MOST_WORDS = 5_000
PARAGRAPH_SENTENCES = 5
DIMENSIONS = 8
Schema = Mapping[str, Any]

SENTENCES = (
    "The sources agree on {word} more than they admit.",
    "What is known about {word} was mostly observed, seldom measured.",
    "This part sets {word} against the question of the thesis.",
    "Nobody has yet shown how {word} changes over ten years.",
    "A careful reader will ask what {word} leaves out.",
    "Three cases show {word} at work, and one shows its limits.",
)


def text_answer(prompt: str) -> str:
    """The text that a prompt asks for."""
    chapter = line(prompt, "Chapter") or "An answer"
    if "method" in chapter.lower() and "Improve" not in prompt:
        return f"{chapter} will be told later"
    keywords = [word.strip() for word in line(prompt, "Keywords").split(",") if word.strip()]
    words = int(re.sub(r"\D", "", line(prompt, "Words"))[:5] or 60)
    return f"## {chapter}\n\n" + _paragraphs(keywords or ["the matter"], min(words, MOST_WORDS))


def line(prompt: str, name: str) -> str:
    """What stands after `name:` at the start of a line; empty where there is none."""
    found = re.search(rf"^{name}:[ \t]*(.*)$", prompt, re.MULTILINE)
    return found[1].strip() if found else ""


def _paragraphs(keywords: Sequence[str], words: int) -> str:
    sentences, count = [], 0
    for sentence in _sentences(keywords):
        sentences.append(sentence)
        count += len(sentence.split())
        if count >= words:
            break
    starts = range(0, len(sentences), PARAGRAPH_SENTENCES)
    return "\n\n".join(" ".join(sentences[at : at + PARAGRAPH_SENTENCES]) for at in starts)


def _sentences(keywords: Sequence[str]) -> Iterator[str]:
    number = 0
    while True:
        word = keywords[number % len(keywords)]
        yield SENTENCES[number % len(SENTENCES)].format(word=word)
        number += 1


def data_answer(schema: Schema, prompt: str) -> str:
    """JSON that fits a schema of the usual kind; the examples' own fields get sensible values."""
    return json.dumps(_value(schema, "answer", line(prompt, "Topic") or "the topic"))


def _value(schema: Schema, name: str, topic: str) -> Any:
    if name in KNOWN:
        return KNOWN[name](topic)
    kind = schema.get("type", "object")
    if kind == "object":
        fields = schema.get("properties", {}).items()
        return {key: _value(field, key, topic) for key, field in fields}
    if kind == "array":
        item = _value(schema.get("items", {}), name, topic)
        return [item] * max(1, schema.get("minItems", 1))
    return _plain(schema, kind, f"{name.replace('_', ' ')} of {topic}")


def _plain(schema: Schema, kind: str, text: str) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    if kind in ("integer", "number"):
        return schema.get("minimum", 1)
    return True if kind == "boolean" else text


def _requirements(topic: str) -> dict[str, Any]:
    return {
        "question": f"What is known about {topic}, and what is missing?",
        "method": "A review of sources, and three cases",
        "audience": "readers of the discipline",
    }


def _axes(topic: str) -> list[dict[str, str]]:
    return [
        {"title": f"History of {topic}", "question": f"Where does {topic} come from?"},
        {"title": f"Practice of {topic}", "question": f"How is {topic} done today?"},
    ]


def _map(topic: str) -> list[dict[str, Any]]:
    return [
        {"axis": axis["title"], "claims": [f"{axis['title']} is told, seldom measured"],
         "sources_wanted": ["a standard work", "a recent study", "a primary source"]}
        for axis in _axes(topic)
    ]  # fmt: skip


def _chapters(topic: str) -> list[dict[str, Any]]:
    plan = (
        ("Introduction", ["question", "scope"]),
        ("Method", ["sources", "cases"]),
        ("Findings", ["practice", "limits"]),
    )
    return [
        {"title": title, "purpose": f"{title} to {topic}", "keywords": [*keywords, topic],
         "subsections": [f"{title}: {word}" for word in keywords]}
        for title, keywords in plan
    ]  # fmt: skip


KNOWN: Mapping[str, Callable[[str], Any]] = {
    "title": lambda topic: f"On {topic}",
    "requirements": _requirements,
    "seed_axes": _axes,
    "kb_map": _map,
    "gaps": lambda topic: [f"No long study of {topic}"],
    "chapters": _chapters,
}


def vector(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """A vector that is the same for the same text and says nothing of its meaning."""
    return list(islice(_numbers(text), dimensions))


def _numbers(text: str) -> Iterator[float]:
    number = 0
    while True:
        for byte in hashlib.sha256(f"{number} {text}".encode()).digest():
            yield byte / 128 - 1
        number += 1
