"""OpenTelemetry spans of requests, executions, messages and runs, sent to a collector.

`apps.py` uses `switch.py` to decide whether spans are made, and connects the others: `requests.py`,
`execution_spans.py`, `messages.py` and `run_spans.py` make them with `spans.py`, and `exporting.py`
sends them.
"""
