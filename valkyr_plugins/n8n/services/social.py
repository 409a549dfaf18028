"""Services for messages and posts: WhatsApp, Twilio, Mattermost, Teams, X, YouTube and others."""

from typing import Any

from valkyr_plugins.n8n.mapping import NodeWork
from valkyr_plugins.n8n.services.calls import Service, ServiceCall, always
from valkyr_plugins.n8n.services.tables import SITE, by_id, crud, sent
from valkyr_plugins.n8n.services.values import OMIT, filled, given, limit, missing

_GRAPH = "https://graph.facebook.com/v22.0"


def _whatsapp(work: NodeWork) -> Any:
    """Return a message: text, or a file that is given by its address or ID."""
    kind = work.word("messageType", "text")
    found: dict[str, Any] = {
        "messaging_product": "whatsapp", "to": by_id("recipientPhoneNumber")(work), "type": kind,
    }  # fmt: skip
    if kind == "text":
        found["text"] = {"body": filled(work, "$textBody")}
    elif kind in ("image", "video", "audio", "document", "sticker") and work.get("mediaLink"):
        found[kind] = {"link": filled(work, "$mediaLink")}
    elif kind in ("image", "video", "audio", "document", "sticker") and work.get("mediaId"):
        found[kind] = {"id": filled(work, "$mediaId")}
    else:
        found[kind] = missing(work, f"the {kind}")
    return found


def _template(work: NodeWork) -> Any:
    name, _, language = work.word("template").partition("|")
    if work.get("components"):
        work.remark("The template's components were left out: write them in the API's form.")
    return {
        "messaging_product": "whatsapp", "to": by_id("recipientPhoneNumber")(work),
        "type": "template",
        "template": {"name": work.text(name) or missing(work, "the template"),
                     "language": {"code": work.text(language) or "en_US"}},
    }  # fmt: skip


WHATSAPP = Service(
    "WhatsApp",
    "https://developers.facebook.com/docs/whatsapp/cloud-api",
    {
        "message: send": ServiceCall(
            "POST", f"{_GRAPH}/{{phoneNumberId}}/messages", json=_whatsapp
        ),
        "message: sendTemplate": ServiceCall(
            "POST", f"{_GRAPH}/{{phoneNumberId}}/messages", json=_template
        ),
        "media: mediaUrlGet": ServiceCall("GET", f"{_GRAPH}/{{mediaGetId}}"),
        "media: mediaDelete": ServiceCall("DELETE", f"{_GRAPH}/{{mediaDeleteId}}"),
    },
    always("message"),
    {"message": "send", "media": "mediaUpload"},
    "the app's access token",
)  # fmt: skip

# Twilio.


def _number(key: str) -> Any:
    def made(work: NodeWork) -> Any:
        value = filled(work, f"${key}")
        return f"whatsapp:{value}" if work.get("toWhatsapp") is True else value

    return made


_TWILIO = f"https://api.twilio.com/2010-04-01/Accounts/{SITE}"
TWILIO = Service(
    "Twilio",
    "https://www.twilio.com/docs/messaging/api/message-resource",
    {
        "sms: send": ServiceCall(
            "POST", f"{_TWILIO}/Messages.json",
            form={"From": _number("from"), "To": _number("to"), "Body": "$message"},
        ),
        "call: make": ServiceCall(
            "POST", f"{_TWILIO}/Calls.json",
            form={"From": "$from", "To": "$to", "Twiml": "$message"},
            remark="Twiml is TwiML: put a plain text into <Response><Say>…</Say></Response>.",
        ),
    },
    always("sms"),
    {"sms": "send", "call": "make"},
    "the account's SID as the name, and its token as the password; the variable is the SID",
    "basic",
)  # fmt: skip

_MATTER = f"{SITE}/api/v4"
MATTERMOST = Service(
    "Mattermost",
    "https://api.mattermost.com",
    {
        "message: post": ServiceCall(
            "POST", f"{_MATTER}/posts",
            json={"channel_id": "$channelId", "message": "$message",
                  "root_id": "$otherOptions.root_id?"},
        ),
        "message: delete": ServiceCall("DELETE", f"{_MATTER}/posts/{{postId}}"),
        "message: postEphemeral": ServiceCall(
            "POST", f"{_MATTER}/posts/ephemeral",
            json={"user_id": "$userId",
                  "post": {"channel_id": "$channelId", "message": "$message"}},
        ),
        "channel: addUser": ServiceCall(
            "POST", f"{_MATTER}/channels/{{channelId}}/members", json={"user_id": "$userId"}
        ),
        "channel: create": ServiceCall(
            "POST", f"{_MATTER}/channels",
            json={"team_id": "$teamId", "display_name": "$displayName", "name": "$channel",
                  "type": lambda work: "P" if work.word("type") == "private" else "O"},
        ),
        "channel: members": ServiceCall(
            "GET", f"{_MATTER}/channels/{{channelId}}/members", {"per_page": limit(100)}, items="."
        ),
        "user: getAll": ServiceCall("GET", f"{_MATTER}/users", {"per_page": limit(100)}, items="."),
        "user: getByEmail": ServiceCall("GET", f"{_MATTER}/users/email/{{email}}"),
    },
    always("message"),
    {"message": "post", "channel": "create", "user": "create"},
    "a personal access token",
)  # fmt: skip

_TEAMS = "https://graph.microsoft.com/v1.0"


def _posted(work: NodeWork) -> Any:
    kind = work.word("contentType", work.word("messageType", "text"))
    return {"body": {"contentType": kind, "content": filled(work, "$message")}}


TEAMS = Service(
    "Microsoft Teams",
    "https://learn.microsoft.com/en-us/graph/api/resources/teams-api-overview",
    {
        "channelMessage: create": ServiceCall(
            "POST", f"{_TEAMS}/teams/{{teamId}}/channels/{{channelId}}/messages", json=_posted
        ),
        "channelMessage: getAll": ServiceCall(
            "GET", f"{_TEAMS}/teams/{{teamId}}/channels/{{channelId}}/messages", items="value"
        ),
        "chatMessage: create": ServiceCall(
            "POST", f"{_TEAMS}/chats/{{chatId}}/messages", json=_posted
        ),
        "chatMessage: getAll": ServiceCall(
            "GET", f"{_TEAMS}/chats/{{chatId}}/messages", items="value"
        ),
        "channel: getAll": ServiceCall(
            "GET", f"{_TEAMS}/teams/{{teamId}}/channels", items="value"
        ),
        "channel: create": ServiceCall(
            "POST", f"{_TEAMS}/teams/{{teamId}}/channels", json={"displayName": "$name"}
        ),
    },
    always("channel"),
    {"channel": "create", "channelMessage": "create", "chatMessage": "create"},
    "a token with the permissions ChannelMessage.Send and ChatMessage.Send",
)  # fmt: skip

# X, LinkedIn.

TWITTER = Service(
    "X",
    "https://docs.x.com/x-api",
    {
        "tweet: create": ServiceCall("POST", "https://api.x.com/2/tweets", json={"text": "$text"}),
        "tweet: delete": ServiceCall("DELETE", "https://api.x.com/2/tweets/{tweetDeleteId|tweetId}"),
        "tweet: search": ServiceCall(
            "GET", "https://api.x.com/2/tweets/search/recent",
            {"query": "$searchText", "max_results": limit(50)}, items="data",
        ),
        "user: searchUser": ServiceCall(
            "GET", "https://api.x.com/2/users/by/username/{user}", result="data"
        ),
    },
    always("tweet"),
    {"tweet": "create", "user": "searchUser"},
    "a user's token with the scopes tweet.read, tweet.write and users.read",
)  # fmt: skip


def _author(work: NodeWork) -> str:
    kind = "organization" if work.word("postAs", "person") == "organization" else "person"
    raw = given(work, kind)
    found = missing(work, kind) if raw is None else work.text(raw)
    return f"urn:li:{kind}:{found}"


def _shared(work: NodeWork) -> Any:
    kind = work.word("shareMediaCategory", "NONE")
    if kind == "IMAGE":
        work.remark("It posted an image: upload it by the Images API, and name it in `content`.")
        return {"media": {"id": missing(work, "the image's URN")}}
    if kind != "ARTICLE":
        return OMIT
    return {"article": {"source": filled(work, "$originalUrl"),
                        "title": filled(work, "$additionalFields.title")}}  # fmt: skip


LINKEDIN = Service(
    "LinkedIn",
    "https://learn.microsoft.com/en-us/linkedin/marketing/community-management/shares/posts-api",
    {
        "post: create": ServiceCall(
            "POST", "https://api.linkedin.com/rest/posts",
            json={
                "author": _author, "commentary": "$text", "visibility": "PUBLIC",
                "distribution": {"feedDistribution": "MAIN_FEED"}, "content": _shared,
                "lifecycleState": "PUBLISHED",
            },
            remark="LinkedIn-Version is a month that LinkedIn still supports: see its page.",
        ),
    },
    always("post"),
    {"post": "create"},
    "a token with the scope w_member_social or w_organization_social",
    headers={"LinkedIn-Version": "202506", "X-Restli-Protocol-Version": "2.0.0"},
)  # fmt: skip

# YouTube.

_TUBE = "https://www.googleapis.com/youtube/v3"


def _parts(default: str) -> Any:
    def made(work: NodeWork) -> Any:
        found = work.get("part")
        names = [one for one in found if isinstance(one, str)] if isinstance(found, list) else []
        return default if not names or "*" in names else ",".join(names)

    return made


_SNIPPET = {
    "id": "$videoId",
    "snippet": {"title": "$title", "categoryId": "$categoryId",
                "description": "$updateFields.description?", "tags": "$updateFields.tags?"},
}  # fmt: skip
YOUTUBE = Service(
    "YouTube",
    "https://developers.google.com/youtube/v3/docs",
    {
        "video: get": ServiceCall(
            "GET", f"{_TUBE}/videos",
            {"part": _parts("snippet,contentDetails,statistics"), "id": "$videoId"}, items="items",
        ),
        "video: getAll": ServiceCall(
            "GET", f"{_TUBE}/search",
            {"part": "snippet", "type": "video", "maxResults": limit(25, most=50),
             "q": "$filters.q?", "channelId": "$filters.channelId?",
             "publishedAfter": "$filters.publishedAfter?", "order": "$options.order?"},
            items="items",
        ),
        "video: update": ServiceCall("PUT", f"{_TUBE}/videos", {"part": "snippet"}, json=_SNIPPET),
        "video: delete": ServiceCall("DELETE", f"{_TUBE}/videos", {"id": "$videoId"}),
        "channel: get": ServiceCall(
            "GET", f"{_TUBE}/channels", {"part": _parts("snippet,statistics"), "id": "$channelId"},
            items="items",
        ),
        "playlistItem: getAll": ServiceCall(
            "GET", f"{_TUBE}/playlistItems",
            {"part": _parts("snippet,contentDetails"), "playlistId": "$playlistId",
             "maxResults": limit(25, most=50)}, items="items",
        ),
        "playlistItem: add": ServiceCall(
            "POST", f"{_TUBE}/playlistItems", {"part": "snippet"},
            json={"snippet": {"playlistId": "$playlistId",
                              "resourceId": {"kind": "youtube#video", "videoId": "$videoId"}}},
        ),
        "playlist: create": ServiceCall(
            "POST", f"{_TUBE}/playlists", {"part": "snippet,status"},
            json={"snippet": {"title": "$title", "description": "$options.description?"}},
        ),
        "playlist: get": ServiceCall(
            "GET", f"{_TUBE}/playlists", {"part": _parts("snippet"), "id": "$playlistId"},
            items="items",
        ),
    },
    always("channel"),
    {"video": "get", "channel": "getAll", "playlist": "create", "playlistItem": "add"},
    "a token with the scope youtube",
)  # fmt: skip

# Reddit, Spotify.

_REDDIT = "https://oauth.reddit.com"


def _place(work: NodeWork) -> str:
    raw = given(work, "subreddit")
    return "" if raw is None else "r/" + str(work.text(raw)) + "/"


REDDIT = Service(
    "Reddit",
    "https://www.reddit.com/dev/api",
    {
        "post: search": ServiceCall(
            "GET", f"{_REDDIT}/{{place}}search",
            {"q": "$keyword", "restrict_sr": lambda work: bool(work.get("subreddit")),
             "limit": limit(100), "sort": "$additionalFields.sort?"},
            parts={"place": _place}, items="data.children",
            remark="A post's fields are in its data.",
        ),
        "post: getAll": ServiceCall(
            "GET", f"{_REDDIT}/r/{{subreddit}}/{{kind}}", {"limit": limit(100)},
            parts={"kind": lambda work: work.word("filters.category", "hot")},
            items="data.children", remark="A post's fields are in its data.",
        ),
        "post: get": ServiceCall("GET", f"{_REDDIT}/r/{{subreddit}}/comments/{{postId}}"),
        "post: create": ServiceCall(
            "POST", f"{_REDDIT}/api/submit",
            form={"sr": "$subreddit", "title": "$title", "kind": "$kind?", "text": "$text?",
                  "url": "$url?", "api_type": "json"},
        ),
        "postComment: create": ServiceCall(
            "POST", f"{_REDDIT}/api/comment",
            form={"thing_id": "$postId", "text": "$commentText", "api_type": "json"},
            remark="thing_id is the post's full name, with t3_ before its ID.",
        ),
        "postComment: getAll": ServiceCall(
            "GET", f"{_REDDIT}/r/{{subreddit}}/comments/{{postId}}"
        ),
        "subreddit: get": ServiceCall("GET", f"{_REDDIT}/r/{{subreddit}}/about"),
    },
    always("post"),
    {"post": "create", "postComment": "create", "subreddit": "get"},
    "a token with the scopes read and submit",
)  # fmt: skip

_SPOTIFY = "https://api.spotify.com/v1"
_URI = "The API takes an ID: of spotify:track:ID the last part."
SPOTIFY = Service(
    "Spotify",
    "https://developer.spotify.com/documentation/web-api",
    {
        "playlist: getTracks": ServiceCall(
            "GET", f"{_SPOTIFY}/playlists/{{id}}/tracks", {"limit": limit(50)}, items="items",
            remark=_URI,
        ),
        "playlist: get": ServiceCall("GET", f"{_SPOTIFY}/playlists/{{id}}", remark=_URI),
        "playlist: getUserPlaylists": ServiceCall(
            "GET", f"{_SPOTIFY}/me/playlists", {"limit": limit(50)}, items="items"
        ),
        "playlist: create": ServiceCall(
            "POST", f"{_SPOTIFY}/me/playlists",
            json={"name": "$name", "description": "$additionalFields.description?"},
        ),
        "playlist: add": ServiceCall(
            "POST", f"{_SPOTIFY}/playlists/{{id}}/tracks", json={"uris": ["$trackID"]}, remark=_URI
        ),
        "library: getLikedTracks": ServiceCall(
            "GET", f"{_SPOTIFY}/me/tracks", {"limit": limit(50)}, items="items"
        ),
        "track: get": ServiceCall("GET", f"{_SPOTIFY}/tracks/{{id}}", remark=_URI),
        "track: search": ServiceCall(
            "GET", f"{_SPOTIFY}/search", {"q": "$query", "type": "track", "limit": limit(50)},
            items="tracks.items",
        ),
        "artist: get": ServiceCall("GET", f"{_SPOTIFY}/artists/{{id}}", remark=_URI),
        "player: nextSong": ServiceCall("POST", f"{_SPOTIFY}/me/player/next"),
        "player: pause": ServiceCall("PUT", f"{_SPOTIFY}/me/player/pause"),
    },
    always("player"),
    {"playlist": "add", "library": "getLikedTracks", "track": "getAudioFeatures"},
    "a token with the scopes that the request needs",
)  # fmt: skip

# Services that send mail.

SENDGRID = Service(
    "SendGrid",
    "https://www.twilio.com/docs/sendgrid/api-reference",
    {
        "mail: send": ServiceCall(
            "POST", "https://api.sendgrid.com/v3/mail/send",
            json={
                "personalizations": [{"to": [{"email": "$toEmail"}]}],
                "from": {"email": "$fromEmail", "name": "$fromName?"}, "subject": "$subject",
                "content": [{"type": lambda work: work.word("contentType", "text/plain"),
                             "value": "$contentValue"}],
            },
        ),
        **crud("contact", "https://api.sendgrid.com/v3/marketing/contacts", "contactId",
               items="result"),
        "contact: upsert": ServiceCall(
            "PUT", "https://api.sendgrid.com/v3/marketing/contacts",
            json=lambda work: {"contacts": [sent("email", snaked=True)(work)]},
        ),
    },
    always("list"),
    {"mail": "send", "contact": "upsert"},
    "an API key",
)  # fmt: skip
