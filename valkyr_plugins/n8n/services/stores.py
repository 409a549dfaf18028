"""Services that store pages and products: WordPress, WooCommerce, Shopify, Strapi and Webflow."""

import re
from typing import Any

from valkyr_plugins.n8n.mapping import NodeWork
from valkyr_plugins.n8n.secrecy import without_secrets
from valkyr_plugins.n8n.services.calls import Service, always
from valkyr_plugins.n8n.services.tables import SITE, columns, crud, sent
from valkyr_plugins.n8n.services.values import missing

_WORDPRESS = f"{SITE}/wp-json/wp/v2"
_POST = {"postTemplate": "", "commentStatus": "comment_status", "pingStatus": "ping_status",
         "authorId": "author"}  # fmt: skip
WORDPRESS = Service(
    "WordPress",
    "https://developer.wordpress.org/rest-api",
    {
        **crud("post", f"{_WORDPRESS}/posts", "postId", sent("title", rename=_POST),
               sent(rename=_POST), change="POST", page="per_page",
               search={"search": "$options.search?", "status": "$options.status?",
                       "categories": "$options.categories?"}),
        **crud("page", f"{_WORDPRESS}/pages", "pageId", sent("title", rename=_POST),
               sent(rename=_POST), change="POST", page="per_page"),
        **crud("user", f"{_WORDPRESS}/users", "userId", sent("username", "email", "password"),
               sent(), change="POST", page="per_page"),
    },
    always("post"),
    {"post": "create", "page": "create", "user": "create"},
    "the user's name and an application password; the variable is the site's address",
    "basic",
)  # fmt: skip

_WOO = f"{SITE}/wp-json/wc/v3"
WOOCOMMERCE = Service(
    "WooCommerce",
    "https://woocommerce.github.io/woocommerce-rest-api-docs",
    {
        **crud("product", f"{_WOO}/products", "productId", sent("name", snaked=True),
               sent(snaked=True), page="per_page"),
        **crud("order", f"{_WOO}/orders", "orderId", sent(snaked=True), sent(snaked=True),
               page="per_page", search={"status": "$options.status?"}),
        **crud("customer", f"{_WOO}/customers", "customerId", sent("email", snaked=True),
               sent(snaked=True), page="per_page", search={"email": "$filters.email?"}),
    },
    always("product"),
    {"product": "create", "order": "create", "customer": "create"},
    "the consumer key and secret; the variable is the shop's address",
    "basic",
)  # fmt: skip

_SHOPIFY = f"{SITE}/admin/api/2025-07"
SHOPIFY = Service(
    "Shopify",
    "https://shopify.dev/docs/api/admin-rest",
    {
        **crud("product", f"{_SHOPIFY}/products", "productId",
               sent("title", under="product", snaked=True), sent(under="product", snaked=True),
               items="products", result="product", ending=".json"),
        **crud("order", f"{_SHOPIFY}/orders", "orderId", sent(under="order", snaked=True),
               sent(under="order", snaked=True), items="orders", result="order", ending=".json",
               search={"status": "$options.status?"}),
    },
    always("order"),
    {"order": "create", "product": "create"},
    "the app's access token; the variable is https://<shop>.myshopify.com",
    "secret",
    {"X-Shopify-Access-Token": "{secret}"},
)  # fmt: skip


def _entry(work: NodeWork) -> Any:
    named = str(work.get("columns", "")) if isinstance(work.get("columns"), str) else ""
    names = [name.strip() for name in named.split(",") if name.strip()]
    known = [name for name in names if re.fullmatch(r"[A-Za-z_]\w{0,60}", name)]
    known = [name for name in known if without_secrets(name) == name]
    found = {name: work.value("={{ $json." + name + " }}") for name in known}
    return {"data": found or missing(work, "the fields")}


STRAPI = Service(
    "Strapi",
    "https://docs.strapi.io/cms/api/rest",
    crud("entry", f"{SITE}/api/{{contentType}}", "entryId", _entry, _entry, items="data",
         result="data", page="pagination[pageSize]"),
    always("entry"),
    {"entry": "create"},
    "an API token; the variable is the server's address",
)  # fmt: skip

_WEBFLOW = "https://api.webflow.com/v2/collections/{collectionId}/items"


def _item(work: NodeWork) -> Any:
    return {"isDraft": work.get("live") is not True,
            "fieldData": columns("fieldsUi.fieldValues")(work)}  # fmt: skip


WEBFLOW = Service(
    "Webflow",
    "https://developers.webflow.com/data/reference",
    crud("item", _WEBFLOW, "itemId", _item, _item, change="PATCH", items="items"),
    always("item"),
    {"item": "get"},
    "a token with the scope cms:write",
)  # fmt: skip
