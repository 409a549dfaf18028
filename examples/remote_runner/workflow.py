from typing import Annotated, Any

from pydantic import BaseModel, Field

from valkyr import modules, outcome, when, workflow


class Picture(BaseModel):
    picture: str
    width: Annotated[float, Field(gt=0)]
    height: Annotated[float, Field(gt=0)]


@workflow("remote_runner")
def remote_runner(given: Picture) -> Any:
    """Steps that a program without Celery does, wherever it runs."""
    judge = modules.remote.step(
        handler="judge", outcomes=["tall", "wide"], width=given.width, height=given.height
    )
    with when(outcome(judge) == "tall"):
        frame = modules.data.set(values={"mat": True})
    ready = [outcome(judge) == "wide", frame]
    thumbnail = modules.remote.step.options(timeout=30, after=ready)(
        handler="thumbnail", picture=given.picture
    )
    return thumbnail.file
