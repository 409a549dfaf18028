"""Publishing the workflow, sending the orders and following them to their ends."""

import re
import time
from datetime import datetime, timedelta
from typing import Any

from valkyr_project.demo.client import Api
from valkyr_project.demo.errors import DemoError
from valkyr_project.demo.orders import FOLDER
from valkyr_project.demo.stack import Stack
from valkyr_project.demo.watch import DemoProgress, Watch
from valkyr_project.up.environment import step_defaults

SLUG = "order-import"
ONE_BY_ONE = 3  # the first orders go through `execute`, the others in one batch
FIRST_SECONDS = 30.0
PARTNER = re.compile(r"^( +partner:) \S+", re.MULTILINE)


def definition(partner_url: str) -> str:
    """The example's YAML with the partner's address in place of its default one."""
    text = (FOLDER / "workflow.yaml").read_text()
    return PARTNER.sub(rf"\1 {partner_url}", text, count=1)


def drive(api: Api, stack: Stack, partner_url: str, orders: list[dict[str, Any]]) -> DemoProgress:
    """Send every order once (one of them twice under one key) and wait for their ends."""
    workflow = api.import_workflow(definition(partner_url), SLUG)
    version = api.publish(workflow)
    print(f"{SLUG} is published as version {version}; its steps call {partner_url}.")
    begun = time.monotonic()
    started = _one_by_one(api, workflow, orders[:ONE_BY_ONE])
    since = datetime.fromisoformat(started[0]["createdAt"]) - timedelta(seconds=1)
    watch = Watch(api, workflow, since.isoformat(), {row["id"] for row in started}, begun)
    _require_settings(watch.follow(FIRST_SECONDS, quietly=True), stack)
    watch.ids |= set(api.execute_batch(workflow, orders[ONE_BY_ONE:]))
    print(f"{len(watch.ids)} orders are accepted.\n", flush=True)
    return watch.follow()


def _one_by_one(api: Api, workflow: str, orders: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Start each order under a key of its own; the first one is sent again and must not run."""
    stamp = int(time.time() * 1000)
    started = [api.execute(workflow, order, f"demo-{stamp}-{order['orderId']}") for order in orders]
    first = orders[0]["orderId"]
    again = api.execute(workflow, orders[0], f"demo-{stamp}-{first}")
    if again["id"] != started[0]["id"]:
        raise DemoError(f"{first} was sent twice with one Idempotency-Key and started twice.")
    print(f"{first} was sent twice with one Idempotency-Key: it runs once.")
    return started


def _require_settings(progress: DemoProgress, stack: Stack) -> None:
    """Raise DemoError when the first orders show that the workers lack a setting."""
    if not progress.ended:
        raise DemoError(
            f"The first {len(progress.executions)} orders did not end within {FIRST_SECONDS:.0f} "
            f"s. Are the workers alive? Look at {stack.flower_url} and {stack.home / 'logs'}."
        )
    for letter in progress.dead_letters:
        reason = letter["failureReason"]
        settings = step_defaults(stack.home) | {"VALKYR_HTTP_ALLOWED_NETWORKS": "127.0.0.0/8"}
        if any(name in reason for name in settings):
            lines = "".join(f"  export {name}={value}\n" for name, value in settings.items())
            raise DemoError(
                f"The workers refused a step: {reason}\nStop the stack and start it again "
                f"after\n{lines.rstrip()}"
            )
        raise DemoError(f"The first orders should succeed, but {letter['stepPath']}: {reason}")
