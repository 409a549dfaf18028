"""Spans of OpenTelemetry: of requests, executions, messages and runs, sent to a collector.

`apps.py` decides by `switch.py` whether spans are made, and connects the rest: `requests.py`,
`execution_spans.py`, `messages.py` and `run_spans.py` make them by `spans.py`, and `exporting.py`
sends them.
"""
