"""A message in words: pure. What it holds of other people's text is one line without controls."""

from collections.abc import Mapping
from typing import Any

from valkyr_plugins.alerts.clipping import clipped

SUBJECT = 180


def headline(message: Mapping[str, Any]) -> str:
    """One line that says it: of one alert what it is, of more how many there are."""
    alerts = message["alerts"]
    place = f"[{message['workspace']}] " if message["workspace"] else ""
    if message["reason"] == "TEST":
        return clipped(f"{place}Test of the alert rule {message['rule']['name']}", SUBJECT)
    many = len(alerts) + message["more"]
    if many > 1:
        said = f"{many:,} alerts" if message["reason"] != "OVER" else f"{many:,} alerts are over"
        return clipped(f"{place}{said}: {message['rule']['name']}", SUBJECT)
    said = {"OVER": "Over: ", "AGAIN": "Still: "}.get(message["reason"], "")
    return clipped(f"{place}{said}{alerts[0]['sentence']}", SUBJECT)


def lines(message: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What is said of each alert, and its link; (text, "") where there is none."""
    if message["reason"] == "TEST":
        return [("This is a test: whoever reads it will be told of alerts.", message["link"])]
    said = [(_said(message["reason"], alert), alert["link"]) for alert in message["alerts"]]
    if message["more"]:
        said.append((f"And {message['more']:,} more.", ""))
    return said


def footer(message: Mapping[str, Any]) -> str:
    """Who sends it, and why."""
    where = f"workspace {message['workspace']}" if message["workspace"] else "this installation"
    return clipped(f"Sent by Valkyr's alert rule {message['rule']['name']!r} of {where}.", 300)


def _said(reason: str, alert: Mapping[str, Any]) -> str:
    text = clipped(alert["sentence"], 700)
    if reason == "OVER":
        return f"Over: {text}"
    return f"{text} (noticed {alert['count']:,} times)" if alert["count"] > 1 else text
