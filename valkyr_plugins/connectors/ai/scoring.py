"""How good a text is by what can be counted; the published formula, pure.

Score = 0.3 completeness + 0.3 coherence + 0.2 relevance + 0.2 length, each from 0 to 1
(docs/modules.md, `quality.assess`; the weights can be given). It says whether a text has the form
of a good one, never whether it is true.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# Chinese and Japanese put no spaces between words: there each character counts as one.
_SPACELESS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
WORD = re.compile(rf"[{_SPACELESS}]|[^\W_{_SPACELESS}]+(?:['\u2019-][^\W_{_SPACELESS}]+)*")
BLANK_LINES = re.compile(r"\n[ \t]*\n\s*")
HEADING = re.compile(r"#{1,6}[ \t]+\S|[^\n]+\n(?:={3,}|-{3,})[ \t]*(?:\n|$)")
LIST_ITEM = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+\S", re.MULTILINE)
# Also the ellipsis and the full stops of Chinese; then closing quotes and brackets.
SENTENCE_END = re.compile("[.!?\u2026\u3002\uff01\uff1f][\"'\u201d\u2019\u00bb)\\]]{0,3}$")
DIGITS = 6

WEIGHTS: Mapping[str, float] = {
    "completeness": 0.3, "coherence": 0.3, "relevance": 0.2, "length": 0.2,
}  # fmt: skip
THRESHOLD = 0.6
COMPLETE_WORDS = 100


@dataclass(frozen=True, slots=True)
class Dimension:
    """One side of a text's quality: from 0 to 1, and why."""

    score: float
    reason: str


@dataclass(frozen=True, slots=True)
class Assessment:
    """What was found of a text."""

    score: float
    words: int
    paragraphs: int
    dimensions: dict[str, Dimension]


def assess(
    text: str,
    *,
    keywords: Sequence[str] = (),
    target_words: int | None = None,
    complete_words: int = COMPLETE_WORDS,
    weights: Mapping[str, float] = WEIGHTS,
) -> Assessment:
    """Score a text; `weights` are brought to a sum of 1. Raises ValueError where all are 0."""
    words = len(WORD.findall(text))
    paragraphs = [part for part in BLANK_LINES.split(text.strip()) if part]
    found = {
        "completeness": completeness(words, complete_words),
        "coherence": coherence(paragraphs),
        "relevance": relevance(text, keywords),
        "length": length(words, target_words),
    }
    total = sum(weights.values())
    if total <= 0:
        raise ValueError("all weights are 0: at least one must count")
    score = sum(weights[name] * found[name].score for name in found) / total
    # So that 0.6 is 0.6: a sum of binary fractions may miss it by a hair.
    return Assessment(min(1.0, round(score, DIGITS)), words, len(paragraphs), found)


def completeness(words: int, complete: int) -> Dimension:
    """min(1, words ÷ 100): whether there is enough to speak of."""
    return _dimension(min(1.0, words / complete), f"{words:,} of {complete:,} words")


def coherence(paragraphs: Sequence[str]) -> Dimension:
    """Half for at least two paragraphs (one earns a quarter), half for the share with structure."""
    if not paragraphs:
        return Dimension(0.0, "no paragraph")
    structured = sum(map(has_structure, paragraphs))
    score = (0.5 if len(paragraphs) >= 2 else 0.25) + 0.5 * structured / len(paragraphs)
    noun = "paragraph" if len(paragraphs) == 1 else "paragraphs"
    return _dimension(
        score,
        f"{len(paragraphs):,} {noun}, {structured:,} of them a heading, a list or "
        "sentences that end properly",
    )


def has_structure(paragraph: str) -> bool:
    """Whether a paragraph is a heading or a list, or ends as a sentence does."""
    return bool(
        HEADING.match(paragraph)
        or LIST_ITEM.search(paragraph)
        or SENTENCE_END.search(paragraph[-8:].rstrip())
    )


def relevance(text: str, keywords: Sequence[str]) -> Dimension:
    """The share of the keywords that occur as whole words, in capitals or not; 1 without any."""
    wanted = list(dict.fromkeys(word.strip().casefold() for word in keywords if word.strip()))
    if not wanted:
        return Dimension(1.0, "no keywords were given")
    folded = text.casefold()
    missing = [word for word in wanted if not _occurs(word, folded)]
    reason = f"{len(wanted) - len(missing):,} of {len(wanted):,} keywords occur"
    if missing:
        reason += f"; missing: {', '.join(missing[:10])}"
    return _dimension(1 - len(missing) / len(wanted), reason)


def length(words: int, target: int | None) -> Dimension:
    """min(words, target) ÷ max(words, target); 1 without a target."""
    if target is None:
        return Dimension(1.0, "no target was given")
    longest = max(words, target)
    score = min(words, target) / longest if longest else 1.0
    return _dimension(score, f"{words:,} words where {target:,} are the target")


def _occurs(word: str, text: str) -> bool:
    before = "" if _spaceless(word[0]) else r"(?<!\w)"
    after = "" if _spaceless(word[-1]) else r"(?!\w)"
    return re.search(before + re.escape(word) + after, text) is not None


def _spaceless(character: str) -> bool:
    return re.match(f"[{_SPACELESS}]", character) is not None


def _dimension(score: float, reason: str) -> Dimension:
    return Dimension(round(score, DIGITS), reason)
