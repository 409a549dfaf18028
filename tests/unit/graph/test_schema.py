"""The published JSON Schema is valid, and agrees with the validation as far as a schema can."""

import json

from jsonschema import Draft202012Validator

from executions.definition.graph.document import load_text
from executions.definition.graph.schema import WORKFLOW_SCHEMA
from executions.definition.graph.validation import problems
from tests.unit.graph.containers import CONTAINERS

WHOLE = """
schema: valkyr/1
name: order-fulfilment
description: Reserve, charge and ship an order.
input: {type: object, required: [orderId]}
variables: {carrier: null}
output: "{{ tasks.ship.output }}"
settings:
  timeoutSeconds: 3600
  priority: 5
  concurrency: {key: "{{ input.customerId }}", limit: 1, onConflict: queue}
  onFailure: {workflow: notify-ops}
  checkpoint: {enabled: true, everySteps: 5, onLoop: true, onGate: true, keep: 10}
tasks:
  - id: fetch
    name: Fetch order
    use: http.request
    with: {method: GET, url: "https://example.com/orders/{{ input.orderId }}"}
    retry: standard
    timeoutSeconds: 30
    queue: io
    cache: {scope: workspace, ttlSeconds: 3600}
    ui: {x: 120, y: 80, note: ""}
  - id: lines
    use: flow.map
    after: fetch
    with: {items: "{{ tasks.fetch.output.body.lines }}", maxConcurrency: 10, onItemError: continue}
    body:
      tasks:
        - {id: reserve, use: http.request, with: {url: "https://example.com/{{ item.sku }}"}}
        - id: watch
          use: flow.loop
          after: reserve
          with: {until: "{{ tasks.ready.outcome == 'true' }}", maxIterations: 1000}
          body:
            tasks:
              - {id: look, use: flow.noop, with: {v: "{{ loop.previous.look }}{{ index }}"}}
              - {id: ready, use: flow.if, with: {condition: "{{ tasks.look.output }}"}}
            edges:
              - {from: look, to: ready}
  - {id: ship, use: flow.noop, after: lines}
triggers:
  - {type: CRON, schedule: "0 2 * * *", timezone: Europe/Berlin, overlap: skip}
  - {type: WEBHOOK, auth: hmac}
  - {type: EVENT, event: order.created, filter: "{{ event.total > 0 }}"}
  - {type: QUEUE, queue: orders}
"""


def test_the_schema_is_a_json_schema_that_can_be_served() -> None:
    Draft202012Validator.check_schema(WORKFLOW_SCHEMA)

    assert json.loads(json.dumps(WORKFLOW_SCHEMA)) == WORKFLOW_SCHEMA


def test_every_part_of_the_schema_is_used() -> None:
    text = json.dumps(WORKFLOW_SCHEMA)

    assert [name for name in WORKFLOW_SCHEMA["$defs"] if f'"#/$defs/{name}"' not in text] == []


def test_a_definition_with_everything_in_it_is_sound() -> None:
    document = load_text(WHOLE, content_type="yaml")

    assert problems(document, CONTAINERS) == []
    assert list(Draft202012Validator(WORKFLOW_SCHEMA).iter_errors(document)) == []
