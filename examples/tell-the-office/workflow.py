from typing import Any

from valkyr import modules, workflow


@workflow
def tell_the_office(failure: Any) -> str:
    """Started when another workflow fails; mails what failed, and where."""
    failed = failure.execution
    subject = f"{failed.workflow} failed at {failed.error.step}"
    mail = modules.email.send(
        from_="valkyr@example.com",
        to="office@example.com",
        subject=subject,
        text=f"""\
{failed.error.message}

Order: {failed.input.orderId}
Execution: {failed.id}
""",
    )
    return subject
