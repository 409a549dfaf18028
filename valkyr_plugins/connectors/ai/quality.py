"""`quality.assess`: decides by a score whether a text is good enough to go on with."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, ClassVar

from pydantic import Field, model_validator

from runners.public.modules import Bad, Module, ModuleInputs, ModuleOutputs, Result, StepContext
from valkyr_plugins.connectors.ai import scoring

MAX_CHARACTERS = 500_000


class Weights(ModuleInputs):
    """How much each dimension counts; they are brought to a sum of 1."""

    completeness: float = Field(0.3, ge=0, le=1_000, description="That there is enough text.")
    coherence: float = Field(0.3, ge=0, le=1_000, description="That it has structure.")
    relevance: float = Field(0.2, ge=0, le=1_000, description="That it is about the matter.")
    length: float = Field(0.2, ge=0, le=1_000, description="That it is as long as asked for.")

    @model_validator(mode="after")
    def _some_count(self) -> "Weights":
        if not sum(self.model_dump().values()):
            raise ValueError("all weights are 0: at least one must count")
        return self


class AssessInputs(ModuleInputs):
    """What to assess, and against what."""

    text: str = Field(
        description="The text, plain or in Markdown.",
        examples=["{{ tasks.draft.output.text }}"],
        max_length=MAX_CHARACTERS,
    )
    keywords: list[str] = Field(
        default_factory=list,
        description="Words or phrases that ought to occur.",
        examples=[["green tea", "harvest"]],
        max_length=100,
    )
    target_words: int | None = Field(
        None, ge=1, le=1_000_000, description="How many words are asked for.", examples=[400]
    )
    complete_words: int = Field(
        scoring.COMPLETE_WORDS,
        ge=1,
        le=1_000_000,
        description="From how many words on a text is complete.",
    )
    threshold: float = Field(
        scoring.THRESHOLD, ge=0, le=1, description="From which score on the outcome is `true`."
    )
    weights: Weights = Field(
        default_factory=lambda: Weights.model_validate({}),
        description="How much each dimension counts.",
        examples=[{"relevance": 0.5}],
    )


class Judged(ModuleOutputs):
    """One dimension."""

    score: float = Field(description="From 0 to 1.")
    reason: str = Field(description="Why, for people and for the model that is to do better.")


class AssessOutputs(ModuleOutputs):
    """What was found."""

    score: float = Field(description="From 0 to 1, all dimensions together.", examples=[0.82])
    passed: bool = Field(description="Whether the score reaches the threshold.")
    threshold: float = Field(description="The score that was asked for.")
    words: int = Field(description="How many words the text has.")
    paragraphs: int = Field(description="How many paragraphs it has.")
    dimensions: dict[str, Judged] = Field(
        description="`completeness`, `coherence`, `relevance` and `length`, each with its reason."
    )


class QualityAssess(Module[AssessInputs]):
    """Scores a text by what can be counted, and goes on along `true` or `false`.

    Score = 0.3 completeness + 0.3 coherence + 0.2 relevance + 0.2 length, each 0 to 1.
    Completeness: min(1, words ÷ 100). Coherence: half for at least two paragraphs (one earns a
    quarter), half for the share of paragraphs that are a heading, a list or sentences that end
    properly. Relevance: the share of the keywords that occur, as whole words; 1 without any.
    Length: min(words, target) ÷ max(words, target); 1 without a target. In Chinese and Japanese
    each character counts as a word. The outcome is `true` from 0.6 on. An execution's metrics sum
    its assessments up: how many, their mean score, the share that passed.

    It says whether a text has the form of a good one, never whether it is true.
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
        Bad("no text but null", {"text": None}, "text: Input should be a valid string"),
        Bad(
            "a text as long as a shelf of books",
            {"text": "a " * MAX_CHARACTERS},
            "text: String should have at most",
        ),
        Bad(
            "weights that are all 0",
            {
                "text": "a",
                "weights": {"completeness": 0, "coherence": 0, "relevance": 0, "length": 0},
            },
            "at least one must count",
        ),
        Bad(
            "a threshold that nothing reaches",
            {"text": "a", "threshold": 60},
            "threshold: Input should be less than or equal to 1",
        ),
        Bad("bytes in place of a text", {"text": [0, 255]}, "text: Input should be a valid string"),
    )

    def execute(self, inputs: AssessInputs, ctx: StepContext) -> Result:
        found = scoring.assess(
            inputs.text,
            keywords=inputs.keywords,
            target_words=inputs.target_words,
            complete_words=inputs.complete_words,
            weights=inputs.weights.model_dump(),
        )
        passed = found.score >= inputs.threshold
        outputs = {**asdict(found), "passed": passed, "threshold": inputs.threshold}
        return Result(outputs, "true" if passed else "false")
