from typing import Any

from valkyr import choose, each, execution, filters, modules, repeat, workflow


@workflow
def pack_orders(orders: list[dict[str, Any]], maxKilos: float) -> list[Any]:  # noqa: N803
    """Pack several orders side by side, each into as many parcels as it needs."""
    batch = modules.data.set(values={"prefix": f"TEA-{execution.startedAt[:10]}"})

    def pack_one(order: Any, number: int) -> Any:
        label = modules.data.set(values={"name": f"{batch.prefix}-{order.id}"})
        with repeat() as parcels:
            left = choose(parcels.previous, parcels.previous.pack.left, order.kilos)
            pack = modules.data.set(
                values={
                    "parcel": f"{label.name}/{parcels.iteration}",
                    "kilos": filters.min([left, maxKilos]),
                    "left": filters.max([left - maxKilos, 0]),
                }
            )
            parcels.while_(choose(pack, pack.left, order.kilos) > 0)
        done = modules.data.set(
            values={
                "order": order.id,
                "number": number,
                "parcels": parcels.iterations,
                "last": parcels.last.pack.kilos,
            }
        )
        return done

    packed = each(orders, pack_one, id="orders", after=batch)
    return packed
