"""`quality.assess`: score a text, and decide whether it is good enough."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from pydantic import Field, model_validator

from runners.public.modules import Bad, Module, ModuleInputs, ModuleOutputs, Result, StepContext

# Rate the quality of a text by countable properties, with a published formula. Pure.
#
# Score = 0.3 completeness + 0.3 coherence + 0.2 relevance + 0.2 length, each from 0 to 1
# (docs/reference/modules.md, `quality.assess`; the weights can be changed). The score rates the
# form of a text, not its truth.


# Chinese and Japanese have no spaces between words, so each character counts as a word.
_SPACELESS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
WORD = re.compile(rf"[{_SPACELESS}]|[^\W_{_SPACELESS}]+(?:['\u2019-][^\W_{_SPACELESS}]+)*")
BLANK_LINES = re.compile(r"\n[ \t]*\n\s*")
HEADING = re.compile(r"#{1,6}[ \t]+\S|[^\n]+\n(?:={3,}|-{3,})[ \t]*(?:\n|$)")
LIST_ITEM = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+\S", re.MULTILINE)
# Includes the ellipsis and the full stops of Chinese, followed by closing quotes and brackets.
SENTENCE_END = re.compile("[.!?\u2026\u3002\uff01\uff1f][\"'\u201d\u2019\u00bb)\\]]{0,3}$")
DIGITS = 6

WEIGHTS: Mapping[str, float] = {
    "completeness": 0.3, "coherence": 0.3, "relevance": 0.2, "length": 0.2,
}  # fmt: skip
THRESHOLD = 0.6
COMPLETE_WORDS = 100


@dataclass(frozen=True, slots=True)
class Dimension:
    """One dimension of a text's quality: a score from 0 to 1, and its reason."""

    score: float
    reason: str


@dataclass(frozen=True, slots=True)
class Assessment:
    """The assessment of a text: its score, its counts, and the score of each dimension."""

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
    """Score a text; `weights` are normalised to a sum of 1. Raises ValueError if all are 0."""
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
        raise ValueError("all weights are 0: at least one must be more than 0")
    score = sum(weights[name] * found[name].score for name in found) / total
    # Rounded, because a sum of binary fractions may differ slightly from 0.6.
    return Assessment(min(1.0, round(score, DIGITS)), words, len(paragraphs), found)


def completeness(words: int, complete: int) -> Dimension:
    """Score the number of words: min(1, words ÷ `complete`)."""
    return _dimension(min(1.0, words / complete), f"{words:,} of {complete:,} words")


def coherence(paragraphs: Sequence[str]) -> Dimension:
    """Score paragraphs: 0.5 (0.25 for only one) plus half the share with structure; 0 for none."""
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
    """Return whether a paragraph begins with a heading, has a list, or ends like a sentence."""
    return bool(
        HEADING.match(paragraph)
        or LIST_ITEM.search(paragraph)
        or SENTENCE_END.search(paragraph[-8:].rstrip())
    )


def relevance(text: str, keywords: Sequence[str]) -> Dimension:
    """Score the share of keywords that occur as whole words, ignoring case; 1 without keywords."""
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
    """Score the length: min(words, target) ÷ max(words, target); 1 without a target."""
    if target is None:
        return Dimension(1.0, "no target was given")
    longest = max(words, target)
    score = min(words, target) / longest if longest else 1.0
    return _dimension(score, f"{words:,} words; the target is {target:,}")


def _occurs(word: str, text: str) -> bool:
    before = "" if _spaceless(word[0]) else r"(?<!\w)"
    after = "" if _spaceless(word[-1]) else r"(?!\w)"
    return re.search(before + re.escape(word) + after, text) is not None


def _spaceless(character: str) -> bool:
    return re.match(f"[{_SPACELESS}]", character) is not None


def _dimension(score: float, reason: str) -> Dimension:
    return Dimension(round(score, DIGITS), reason)


MAX_CHARACTERS = 500_000


class Weights(ModuleInputs):
    """The weights of the dimensions, normalised to a sum of 1."""

    completeness: float = Field(
        0.3, ge=0, le=1_000, description="The weight of the amount of text."
    )
    coherence: float = Field(0.3, ge=0, le=1_000, description="The weight of the structure.")
    relevance: float = Field(0.2, ge=0, le=1_000, description="The weight of the keywords.")
    length: float = Field(0.2, ge=0, le=1_000, description="The weight of the length.")

    @model_validator(mode="after")
    def _some_count(self) -> "Weights":
        if not sum(self.model_dump().values()):
            raise ValueError("all weights are 0: at least one must be more than 0")
        return self


class AssessInputs(ModuleInputs):
    """The text to assess, and its criteria."""

    text: str = Field(
        description="The text, plain or in Markdown.",
        examples=["{{ tasks.draft.output.text }}"],
        max_length=MAX_CHARACTERS,
    )
    keywords: list[str] = Field(
        default_factory=list,
        description="Words or phrases that should occur.",
        examples=[["green tea", "harvest"]],
        max_length=100,
    )
    target_words: int | None = Field(
        None, ge=1, le=1_000_000, description="The target number of words.", examples=[400]
    )
    complete_words: int = Field(
        COMPLETE_WORDS,
        ge=1,
        le=1_000_000,
        description="The lowest number of words at which a text counts as complete.",
    )
    threshold: float = Field(
        THRESHOLD, ge=0, le=1, description="The lowest score that gives the outcome `true`."
    )
    weights: Weights = Field(
        default_factory=lambda: Weights.model_validate({}),
        description="The weight of each dimension.",
        examples=[{"relevance": 0.5}],
    )


class Judged(ModuleOutputs):
    """The score of one dimension."""

    score: float = Field(description="From 0 to 1.")
    reason: str = Field(
        description="The reason, for people and for a model that improves the text."
    )


class AssessOutputs(ModuleOutputs):
    """The scores of the text, with their reasons."""

    score: float = Field(description="The total score, from 0 to 1.", examples=[0.82])
    passed: bool = Field(description="Whether the score reaches the threshold.")
    threshold: float = Field(description="The required score.")
    words: int = Field(description="The number of words in the text.")
    paragraphs: int = Field(description="The number of paragraphs in the text.")
    dimensions: dict[str, Judged] = Field(
        description="The score and reason of `completeness`, `coherence`, `relevance` and `length`."
    )


class QualityAssess(Module[AssessInputs]):
    """Scores a text by countable properties, with the outcome `true` or `false`.

    By default, score = 0.3 completeness + 0.3 coherence + 0.2 relevance + 0.2 length; each is from
    0 to 1. Completeness: min(1, words ÷ 100). Coherence: 0.5 for two or more paragraphs (0.25 for
    one), plus half the share of structured paragraphs, which begin with a heading, contain a list,
    or end like a sentence. Relevance: the share of the keywords that occur as whole words; 1
    without keywords. Length: min(words, target) ÷ max(words, target); 1 without a target. In
    Chinese and Japanese, each character counts as a word. By default, the outcome is `true` for a
    score of 0.6 or more. An execution's metrics summarise its assessments: their number, their mean
    score and the share that passed.

    The score says whether a text has the form of a good text, not whether it is true.
    """

    type = "quality.assess"
    title = "Assess a text"
    category = "language models"
    inline = True
    retry = "none"
    timeout_seconds = 10.0
    outcomes = ("true", "false")
    computes = True
    Inputs = AssessInputs
    Outputs: ClassVar[Any] = AssessOutputs
    example: ClassVar[Mapping[str, Any]] = {
        "text": "{{ tasks.draft.output.text }}",
        "keywords": ["green tea", "harvest"],
        "targetWords": 400,
    }
    bad_inputs = (
        Bad("null instead of a text", {"text": None}, "text: Input should be a valid string"),
        Bad(
            "a text that is far too long",
            {"text": "a " * MAX_CHARACTERS},
            "text: String should have at most",
        ),
        Bad(
            "weights that are all 0",
            {
                "text": "a",
                "weights": {"completeness": 0, "coherence": 0, "relevance": 0, "length": 0},
            },
            "at least one must be more than 0",
        ),
        Bad(
            "a threshold above 1",
            {"text": "a", "threshold": 60},
            "threshold: Input should be less than or equal to 1",
        ),
        Bad("bytes instead of a text", {"text": [0, 255]}, "text: Input should be a valid string"),
    )

    def execute(self, inputs: AssessInputs, ctx: StepContext) -> Result:
        found = assess(
            inputs.text,
            keywords=inputs.keywords,
            target_words=inputs.target_words,
            complete_words=inputs.complete_words,
            weights=inputs.weights.model_dump(),
        )
        passed = found.score >= inputs.threshold
        outputs = {**asdict(found), "passed": passed, "threshold": inputs.threshold}
        return Result(outputs, "true" if passed else "false")
