"""What plugins may import of `dlq`. All else may change without notice.

`models` are the tables, `events` the signals, `metrics` adds readings for Prometheus, `beat` tells
when beat last ticked.
"""
