from typing import Any

from valkyr import modules, workflow

FREE_PIECES = '''\
def main(inputs):
    """The cheapest of every three pieces is free."""
    pieces = [line["cents"] for line in inputs["lines"] for _ in range(line["quantity"])]
    pieces.sort(reverse=True)
    free = sum(pieces[2::3])
    print(f"{len(pieces)} pieces, {free} cents off")
    return {"cents": sum(pieces) - free}
'''


@workflow(
    input={
        "type": "object",
        "required": ["lines"],
        "properties": {
            "lines": {
                "type": "array",
                "items": {"type": "object", "required": ["sku", "cents", "quantity"]},
            }
        },
    }
)
def price_basket(basket: Any) -> Any:
    """Price a basket by a rule that is easier written in Python than in a template."""
    price = modules.python.code.options(retry="none")(
        code=FREE_PIECES, inputs={"lines": basket.lines}, seconds=5, memoryMb=128
    )
    return price.result.cents
