"""How a message leaves: by mail, to Slack, to a webhook. What it says is in `wording`."""
