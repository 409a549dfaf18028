"""A picture for each module, by the names of Material Symbols; of others, their category's."""

BY_TYPE = {
    "flow.noop": "join",
    "flow.if": "alt_route",
    "flow.switch": "call_split",
    "flow.fail": "error",
    "flow.pinned": "push_pin",
    "flow.loop": "repeat",
    "flow.map": "dynamic_feed",
    "flow.delay": "timer",
    "flow.approval": "how_to_reg",
    "flow.subworkflow": "account_tree",
    "flow.wait_for_event": "hourglass_top",
    "flow.callback": "phone_callback",
    "flow.set_variables": "edit_note",
    "rss.read": "rss_feed",
    "email.send": "mail",
    "queue.publish": "outbox",
    "event.publish": "campaign",
    "file.delete": "delete",
    "file.list": "folder_open",
}
BY_CATEGORY = {
    "control": "account_tree",
    "data": "data_object",
    "databases": "database",
    "files": "draft",
    "language models": "smart_toy",
    "messages": "chat",
    "network": "language",
    "payments": "credit_card",
    "remote": "dns",
    "code": "code",
}
OTHER = "extension"


def icon_of(type_name: str, category: str) -> str:
    """The name of a module's icon."""
    return BY_TYPE.get(type_name) or BY_CATEGORY.get(category, OTHER)
