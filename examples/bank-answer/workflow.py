from typing import Any

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from valkyr import callback, first_of, modules, when, workflow


class Transfer(BaseModel, alias_generator=to_camel):
    order_id: str
    cents: int


@workflow(labels={"order": lambda transfer: transfer.order_id, "team": "billing"})
def bank_answer(transfer: Transfer) -> Any:
    """Hand a transfer to the bank, with the address at which to say how it went."""
    answer = callback(f"the bank's answer to {transfer.order_id}", within="1h")
    order = modules.file.write(  # in real life: http.request to the bank
        path=f"bank/{transfer.order_id}.json",
        content=f'{{"cents": {transfer.cents}, "answerTo": "{answer.url}"}}',
    )
    answer.wait()
    with when(answer.timed_out):
        late = modules.data.set(values={"status": "unknown"})
    return first_of(answer.payload, late).status
