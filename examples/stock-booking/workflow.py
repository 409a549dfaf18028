from typing import Annotated, Any

from pydantic import BaseModel, Field

from valkyr import execution, modules, workflow


class Sale(BaseModel):
    sku: str
    amount: Annotated[int, Field(ge=1)]


@workflow
def stock_booking(sale: Sale) -> Any:
    """Take articles from the stock in a shop's own database, once, and tell what is left."""
    book = modules.sql.execute.options(credential="shop_db")(
        once=True,  # repeated after a crash, it finds what it did
        statements=[  # all of them, or none
            {
                "statement": "UPDATE stock SET amount = amount - :amount WHERE sku = :sku",
                "params": {"sku": sale.sku, "amount": sale.amount},
            },
            {
                "statement": "INSERT INTO bookings (sku, amount, execution) "
                "VALUES (:sku, :amount, :execution)",
                "params": {"sku": sale.sku, "amount": sale.amount, "execution": execution.id},
            },
        ],
    )
    left = modules.sql.query.options(credential="shop_db", after=book)(
        statement="SELECT amount FROM stock WHERE sku = :sku", params={"sku": sale.sku}
    )
    return left.rows
