from typing import Any

from valkyr import modules, secrets, workflow


@workflow
def partner_key(orderId: str) -> Any:  # noqa: N803
    """Hand an order over to a partner, with the key that the partner gave us."""
    hand = modules.file.write(  # in real life: http.request with a header or a credential
        path=f"partner/{orderId}.txt", content=f"X-Api-Key: {secrets.partner_key}"
    )
    return hand.path
