from typing import Annotated, Any

from pydantic import BaseModel, Field

from valkyr import (
    choose,
    error,
    expr,
    failed,
    filters,
    modules,
    outcome,
    repeat,
    succeeded,
    when,
    workflow,
)


class Label(BaseModel):
    sentences: Annotated[list[str], Field(min_length=1)]
    room: Annotated[int, Field(ge=1)]


@workflow
def draft_and_review(label: Label) -> dict[str, Any]:
    """Shorten a product text until it fits on its label."""
    with repeat(at_most=10) as shorten:
        kept = label.sentences[: filters.length(label.sentences) - shorten.index]
        draft = modules.data.template(text=filters.join(kept, " "))
        fits = expr("0 < (tasks.draft.output.text | length) <= input.room")
        review = modules.flow.if_(condition=fits)
        shorten.until(outcome(review) == "true")
    with when(failed(shorten)):
        too_long = modules.data.set.options(id="too-long")(
            values={"text": "", "problem": error(shorten).message}
        )
    done = succeeded(shorten)
    return {
        "drafts": choose(done, shorten.iterations, 0),
        "text": choose(done, shorten.last.draft.text, too_long.problem),
    }
