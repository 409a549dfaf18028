"""Services that send messages: Telegram, Discord and Outlook."""

from typing import Any

from valkyr_plugins.n8n.mapping import NodeWork
from valkyr_plugins.n8n.services.calls import Service, ServiceCall, always
from valkyr_plugins.n8n.services.values import OMIT, filled, given, limit, missing
from valkyr_plugins.n8n.texts import is_expression

_BOT = "https://api.telegram.org/bot{secret}"
_MORE = {
    "parse_mode": "$additionalFields.parse_mode?",
    "disable_notification": "$additionalFields.disable_notification?",
    "reply_to_message_id": "$additionalFields.reply_to_message_id?",
    "message_thread_id": "$additionalFields.message_thread_id?",
}
_MARKDOWN = (
    "n8n's node may have set parse_mode automatically: set it if the text is Markdown or HTML."
)


def _markup(work: NodeWork) -> Any:
    """Return the buttons below a message; OMIT if there are none."""
    kind = work.word("replyMarkup", "none")
    if kind == "none":
        return OMIT
    if kind == "forceReply":
        return {"force_reply": True}
    if kind != "inlineKeyboard":
        return missing(work, f"the {kind}")
    rows = [_buttons(work, row) for row in work.names("inlineKeyboard.rows")]
    return {"inline_keyboard": [row for row in rows if row]}


def _buttons(work: NodeWork, row: dict[str, Any]) -> list[Any]:
    held = row.get("row")
    buttons = held.get("buttons") if isinstance(held, dict) else None
    found = []
    for button in buttons if isinstance(buttons, list) else ():
        if isinstance(button, dict):
            more = button.get("additionalFields")
            more = (
                {key: work.value(one) for key, one in more.items()}
                if isinstance(more, dict)
                else {}
            )
            found.append({"text": work.value(button.get("text", "")), **more})
    return found


def _sent(what: str) -> ServiceCall:
    """Return the call that sends a file, which is given by its address or its Telegram ID."""

    def file(work: NodeWork) -> Any:
        if work.get("binaryData") is True:
            work.remark("It sent a file from n8n: send it in `multipart` instead of json.")
            return missing(work, "the file's address")
        return filled(work, "$file")

    json = {
        "chat_id": "$chatId", what: file, "caption": "$additionalFields.caption?", **_MORE,
        "reply_markup": _markup,
    }  # fmt: skip
    name = what.capitalize()
    return ServiceCall("POST", f"{_BOT}/send{name}", json=json)


TELEGRAM = Service(
    "Telegram",
    "https://core.telegram.org/bots/api",
    {
        "message: sendMessage": ServiceCall(
            "POST", f"{_BOT}/sendMessage",
            json={"chat_id": "$chatId", "text": "$text", **_MORE, "reply_markup": _markup,
                  "disable_web_page_preview": "$additionalFields.disable_web_page_preview?"},
            remark=_MARKDOWN,
        ),
        **{
            f"message: send{what.capitalize()}": _sent(what)
            for what in ("photo", "video", "audio", "document", "animation", "sticker")
        },
        "message: sendChatAction": ServiceCall(
            "POST", f"{_BOT}/sendChatAction",
            json={"chat_id": "$chatId", "action": lambda work: work.word("action", "typing")},
        ),
        "message: deleteMessage": ServiceCall(
            "POST", f"{_BOT}/deleteMessage",
            json={"chat_id": "$chatId", "message_id": "$messageId"},
        ),
        "message: editMessageText": ServiceCall(
            "POST", f"{_BOT}/editMessageText",
            json={"chat_id": "$chatId?", "message_id": "$messageId?", "text": "$text",
                  "inline_message_id": "$inlineMessageId?", "reply_markup": _markup,
                  "parse_mode": "$additionalFields.parse_mode?"},
            remark=_MARKDOWN,
        ),
        "file: get": ServiceCall(
            "POST", f"{_BOT}/getFile", json={"file_id": "$fileId"},
            remark=("It returns the file's path; the content is at " "https://api.telegram.org/file/bot<token>/<file_path>."),
        ),
        "chat: get": ServiceCall("POST", f"{_BOT}/getChat", json={"chat_id": "$chatId"}),
        "callback: answerQuery": ServiceCall(
            "POST", f"{_BOT}/answerCallbackQuery",
            json={"callback_query_id": "$queryId", "text": "$additionalFields.text?",
                  "show_alert": "$additionalFields.show_alert?"},
        ),
    },
    always("message"),
    {"message": "sendMessage", "file": "get", "chat": "get", "callback": "answerQuery"},
    "the bot's token",
    "secret",
)  # fmt: skip

# Discord.


def _by_webhook(work: NodeWork) -> bool:
    return work.node.version < 2 or "webhook" in work.word("authentication")


def _embeds(work: NodeWork) -> Any:
    rows = work.names("embeds.values")
    if not rows:
        return OMIT
    work.remark("It had embeds: write them in the format of Discord's API.")
    return missing(work, "the embeds")


_HOOKED = ServiceCall(
    "POST", "{secret}",
    json={"content": "$content|text", "username": "$options.username?", "embeds": _embeds},
    remark="The webhook's address is the secret.",
)  # fmt: skip
_CHANNEL = "https://discord.com/api/v10/channels/{channelId}"
_AS_BOT = {"Authorization": "Bot {secret}"}
DISCORD = Service(
    "Discord",
    "https://docs.discord.com/developers/reference",
    {
        "webhook: sendLegacy": _HOOKED,
        "message: send": ServiceCall(
            "POST", f"{_CHANNEL}/messages", json={"content": "$content", "embeds": _embeds},
            headers=_AS_BOT,
        ),
        "message: getAll": ServiceCall(
            "GET", f"{_CHANNEL}/messages", {"limit": limit(100)}, headers=_AS_BOT, items="."
        ),
        "message: get": ServiceCall(
            "GET", f"{_CHANNEL}/messages/{{messageId}}", headers=_AS_BOT
        ),
        "message: deleteMessage": ServiceCall(
            "DELETE", f"{_CHANNEL}/messages/{{messageId}}", headers=_AS_BOT
        ),
    },
    lambda work: "webhook" if _by_webhook(work) else "channel",
    {"webhook": "sendLegacy", "message": "send"},
    "the bot's token, or the webhook's address",
    "secret",
)  # fmt: skip

# Outlook.


def _people(keys: str) -> Any:
    def made(work: NodeWork) -> Any:
        raw = given(work, keys)
        if raw is None:
            return (
                OMIT
                if keys.startswith("additionalFields")
                else [{"emailAddress": {"address": missing(work, keys)}}]
            )
        single = is_expression(raw) or not isinstance(raw, str)
        found = [raw] if single else [one.strip() for one in raw.replace(";", ",").split(",")]
        return [{"emailAddress": {"address": work.value(one)}} for one in found if one]

    return made


def _kind(work: NodeWork) -> str:
    return "HTML" if work.word("additionalFields.bodyContentType") == "html" else "Text"


def _attachments(work: NodeWork) -> Any:
    if work.get("additionalFields.attachments"):
        work.remark("It sent attachments: add them to the message in the form of Graph's API.")
    return OMIT


_GRAPH = "https://graph.microsoft.com/v1.0/me"
_MAIL = {
    "subject": "$subject", "body": {"contentType": _kind, "content": "$bodyContent"},
    "toRecipients": _people("toRecipients"),
    "ccRecipients": _people("additionalFields.ccRecipients"),
    "bccRecipients": _people("additionalFields.bccRecipients"),
    "importance": "$additionalFields.importance?", "attachments": _attachments,
}  # fmt: skip
_MESSAGE = f"{_GRAPH}/messages/{{messageId}}"


def _changes(work: NodeWork) -> Any:
    raw = work.get("updateFields")
    return work.value(raw) if isinstance(raw, dict) and raw else missing(work, "the changes")


OUTLOOK = Service(
    "Microsoft Graph",
    "https://learn.microsoft.com/en-us/graph/api/resources/message",
    {
        "message: send": ServiceCall("POST", f"{_GRAPH}/sendMail", json={"message": _MAIL}),
        "message: get": ServiceCall("GET", _MESSAGE),
        "message: getAll": ServiceCall(
            "GET", f"{_GRAPH}/messages",
            {"$top": limit(50, most=1000), "$filter": "$filtersUI.values.filters.custom?",
             "$search": "$filtersUI.values.search?"},
            items="value",
        ),
        "message: update": ServiceCall("PATCH", _MESSAGE, json=_changes),
        "message: move": ServiceCall(
            "POST", f"{_MESSAGE}/move", json={"destinationId": "$folderId"}
        ),
        "message: reply": ServiceCall("POST", f"{_MESSAGE}/reply", json={"comment": "$message"}),
        "message: delete": ServiceCall("DELETE", _MESSAGE),
        "draft: create": ServiceCall("POST", f"{_GRAPH}/messages", json=_MAIL),
    },
    always("message"),
    {"message": "send", "draft": "create"},
    "a token with the permissions Mail.Send and Mail.ReadWrite",
)  # fmt: skip
