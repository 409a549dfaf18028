"""Services that look up data: weather, email addresses, news and translations."""

from typing import Any

from valkyr_plugins.n8n.mapping import NodeWork
from valkyr_plugins.n8n.services.calls import Service, ServiceCall, always
from valkyr_plugins.n8n.services.tables import SITE
from valkyr_plugins.n8n.services.values import filled, limit


def _where(work: NodeWork) -> dict[str, Any]:
    how = work.word("locationSelection", "cityName")
    found: dict[str, Any] = {"units": work.word("format", "metric")}
    match how:
        case "cityId":
            return found | {"id": filled(work, "$cityId")}
        case "coordinates":
            return found | {"lat": filled(work, "$latitude"), "lon": filled(work, "$longitude")}
        case "zipCode":
            return found | {"zip": filled(work, "$zipCode")}
        case _:
            return found | {"q": filled(work, "$cityName")}


_WEATHER = "https://api.openweathermap.org/data/2.5"
OPENWEATHERMAP = Service(
    "OpenWeatherMap",
    "https://openweathermap.org/api",
    {
        f"weather: {operation}": ServiceCall("GET", f"{_WEATHER}/{path}?appid={{secret}}", _where)
        for operation, path in (("currentWeather", "weather"), ("5DayForecast", "forecast"))
    },
    always("weather"),
    {"weather": "currentWeather"},
    "the API key",
    "secret",
)  # fmt: skip

_HUNTER = "https://api.hunter.io/v2"
HUNTER = Service(
    "Hunter",
    "https://hunter.io/api-documentation/v2",
    {
        "search: domainSearch": ServiceCall(
            "GET", f"{_HUNTER}/domain-search?api_key={{secret}}",
            {"domain": "$domain", "limit": limit(100)}, items="data.emails",
        ),
        "search: emailFinder": ServiceCall(
            "GET", f"{_HUNTER}/email-finder?api_key={{secret}}",
            {"domain": "$domain", "first_name": "$firstname", "last_name": "$lastname"},
            result="data",
        ),
        "search: emailVerifier": ServiceCall(
            "GET", f"{_HUNTER}/email-verifier?api_key={{secret}}", {"email": "$email"},
            result="data",
        ),
    },
    always("search"),
    {"search": "domainSearch"},
    "the API key",
    "secret",
)  # fmt: skip

HACKERNEWS = Service(
    "Hacker News",
    "https://hn.algolia.com/api",
    {
        "all: getAll": ServiceCall(
            "GET", "https://hn.algolia.com/api/v1/search",
            {"query": "$additionalFields.keyword?", "hitsPerPage": limit(100)}, items="hits",
        ),
        "article: get": ServiceCall("GET", "https://hn.algolia.com/api/v1/items/{articleId}"),
        "user: get": ServiceCall("GET", "https://hn.algolia.com/api/v1/users/{username}"),
    },
    always("article"),
    {"article": "get", "all": "getAll", "user": "get"},
    "",
    "",
)  # fmt: skip

DEEPL = Service(
    "DeepL",
    "https://developers.deepl.com/docs",
    {
        "language: translate": ServiceCall(
            "POST", f"{SITE}/v2/translate",
            json={"text": ["$text"], "target_lang": "$translateTo",
                  "source_lang": "$additionalFields.sourceLang?"},
            items="translations",
        ),
    },
    always("language"),
    {"language": "translate"},
    "the key; the variable is https://api.deepl.com or https://api-free.deepl.com",
    "secret",
    {"Authorization": "DeepL-Auth-Key {secret}"},
)  # fmt: skip
