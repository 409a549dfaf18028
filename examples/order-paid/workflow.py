from typing import Any

from valkyr import modules, workflow


@workflow(event={"event": "order.paid", "filter": lambda event: event.euros > 0})
def order_paid(payment: Any) -> Any:
    """Thank the customer for each payment."""
    thank = modules.data.template(text=f"Thank you for {payment.euros} €")
    return thank.text
