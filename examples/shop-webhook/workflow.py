from typing import Annotated, Any

from pydantic import BaseModel, Field

from valkyr import choose, modules, workflow


class Parcel(BaseModel):
    kilos: Annotated[float, Field(gt=0)]


@workflow(webhook={"auth": "hmac", "respond": "result", "timeoutSeconds": 20})
def shop_webhook(parcel: Parcel) -> Any:
    """A shop asks over HTTP what postage costs, and gets the answer at once."""
    postage = modules.data.set(values={"cents": choose(parcel.kilos <= 2, 490, 990)})
    return postage
