"""`llm.embed`: convert texts to vectors, for semantic search and comparison."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from pydantic import Field, field_validator

from runners.public.modules import Bad, ModuleOutputs, Result, StepContext
from valkyr_plugins.connectors.ai.conversation import UsedTokens
from valkyr_plugins.connectors.ai.provider import LlmModule, ProviderInputs

MAX_TEXTS = 2_000
MAX_CHARACTERS = 100_000  # maximum characters of one text; models accept about 8,000 tokens


class EmbedInputs(ProviderInputs):
    """The texts to embed."""

    texts: list[str] = Field(
        description=(
            f"1 to {MAX_TEXTS:,} texts. Each text must have 1 to {MAX_CHARACTERS:,} characters, "
            "and must not be blank."
        ),
        examples=[["green tea", "{{ input.question }}"]],
        min_length=1,
        max_length=MAX_TEXTS,
    )
    dimensions: int | None = Field(
        None,
        ge=1,
        le=100_000,
        description="The number of dimensions; by default the model's.",
        examples=[256],
    )
    batch_size: int = Field(
        100, ge=1, le=MAX_TEXTS, description="The maximum number of texts per request."
    )

    @field_validator("texts")
    @classmethod
    def _each_is_a_text(cls, texts: list[str]) -> list[str]:
        for number, text in enumerate(texts):
            if not text.strip() or len(text) > MAX_CHARACTERS:
                raise ValueError(
                    f"text {number} has {len(text):,} characters; expected 1 to "
                    f"{MAX_CHARACTERS:,}, not all of them spaces: omit empty texts, and split "
                    "long ones into parts"
                )
        return texts

    def batches(self) -> Iterator[list[str]]:
        """Yield the texts in batches, one per request."""
        for start in range(0, len(self.texts), self.batch_size):
            yield self.texts[start : start + self.batch_size]


class EmbedOutputs(ModuleOutputs):
    """The vectors of the texts."""

    vectors: list[list[float]] = Field(
        description="A vector for each text, in the same order; numbers are rounded to seven "
        "significant digits."
    )
    dimensions: int = Field(description="The number of dimensions.")
    model: str = Field(description="The name of the model, as the provider returns it.")
    usage: UsedTokens = Field(description="The tokens used.")


class LlmEmbed(LlmModule[EmbedInputs]):
    """Turns texts into vectors with an embedding model; one request can contain many texts.

    Vectors are large: 1,536 numbers are about 20 kB, so about 250 such vectors fill a step's
    output. For more texts, embed batches in a `flow.map`, or set fewer `dimensions`. Endpoints,
    credentials, costs and retries are as in `llm.chat`.
    """

    type = "llm.embed"
    title = "Embed texts"
    Inputs = EmbedInputs
    Outputs: ClassVar[Any] = EmbedOutputs
    example: ClassVar[Mapping[str, Any]] = {
        "model": "text-embedding-3-small",
        "texts": ["green tea", "{{ input.question }}"],
        "dimensions": 256,
    }
    bad_inputs = (
        Bad("no text", {"model": "m", "texts": []}, "at least 1 item"),
        Bad("a blank text", {"model": "m", "texts": ["a", " \n"]}, "text 1 has 2 characters"),
        Bad(
            "a text that is too long",
            {"model": "m", "texts": ["a" * (MAX_CHARACTERS + 1)]},
            "split long ones into parts",
        ),
        Bad(
            "too many vectors",
            {"model": "embed-wide", "texts": ["a", "b", "c"], "batchSize": 1,
             "baseUrl": "{server}"},
            "ask for fewer dimensions",
            needs="llm",
        ),
        Bad(
            "fewer vectors than texts",
            {"model": "embed-short", "texts": ["a", "b"], "baseUrl": "{server}"},
            "answered with 1 vectors for 2 texts",
            needs="llm",
        ),
    )  # fmt: skip

    def warm_up(self) -> None:
        import valkyr_plugins.connectors.ai.requests  # noqa: F401 - loads openai and httpx

    def execute(self, inputs: EmbedInputs, ctx: StepContext) -> Result:
        from valkyr_plugins.connectors.ai.requests import embed

        return Result(embed(inputs, ctx))
