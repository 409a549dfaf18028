"""OpenTelemetry spans of requests, executions, messages and runs, sent to a collector.

`apps.py` uses `switch.py` to decide whether spans are made, and connects the other modules.
`request_span.py`, `execution_spans.py`, `messages.py` and `run_spans.py` make the spans with
`spans.py`; `exporting.py` sends the spans.
"""
