"""The services whose nodes become requests: one table, keyed by n8n's node type."""

from collections.abc import Mapping

from valkyr_plugins.n8n.services.business import GITHUB, HUBSPOT
from valkyr_plugins.n8n.services.calls import Service
from valkyr_plugins.n8n.services.chats import DISCORD, OUTLOOK, TELEGRAM
from valkyr_plugins.n8n.services.databases import BASEROW, NOCODB, SUPABASE
from valkyr_plugins.n8n.services.google import CALENDAR, DOCS, DRIVE, GMAIL
from valkyr_plugins.n8n.services.lookups import DEEPL, HACKERNEWS, HUNTER, OPENWEATHERMAP
from valkyr_plugins.n8n.services.mailing import MAILCHIMP, MAUTIC
from valkyr_plugins.n8n.services.office import (
    DROPBOX,
    EXCEL,
    GOOGLE_CONTACTS,
    GOOGLE_SLIDES,
    GOOGLE_TASKS,
    ONEDRIVE,
)
from valkyr_plugins.n8n.services.records import AIRTABLE, NOTION
from valkyr_plugins.n8n.services.sheets import SHEETS
from valkyr_plugins.n8n.services.social import (
    LINKEDIN,
    MATTERMOST,
    REDDIT,
    SENDGRID,
    SPOTIFY,
    TEAMS,
    TWILIO,
    TWITTER,
    WHATSAPP,
    YOUTUBE,
)
from valkyr_plugins.n8n.services.stores import SHOPIFY, STRAPI, WEBFLOW, WOOCOMMERCE, WORDPRESS
from valkyr_plugins.n8n.services.tasks import (
    ASANA,
    CLICKUP,
    GITLAB,
    JIRA,
    N8N,
    PIPEDRIVE,
    SALESFORCE,
    TODOIST,
    TRELLO,
    ZENDESK,
)

SERVICES: Mapping[str, Service] = {
    "airtable": AIRTABLE,
    "discord": DISCORD,
    "github": GITHUB,
    "gmail": GMAIL,
    "googleCalendar": CALENDAR,
    "googleDocs": DOCS,
    "googleDrive": DRIVE,
    "googleSheets": SHEETS,
    "hubspot": HUBSPOT,
    "microsoftOutlook": OUTLOOK,
    "notion": NOTION,
    "telegram": TELEGRAM,
    "asana": ASANA,
    "baserow": BASEROW,
    "clickUp": CLICKUP,
    "deepL": DEEPL,
    "dropbox": DROPBOX,
    "gitlab": GITLAB,
    "googleContacts": GOOGLE_CONTACTS,
    "googleSlides": GOOGLE_SLIDES,
    "googleTasks": GOOGLE_TASKS,
    "hackerNews": HACKERNEWS,
    "hunter": HUNTER,
    "jira": JIRA,
    "linkedIn": LINKEDIN,
    "mailchimp": MAILCHIMP,
    "mattermost": MATTERMOST,
    "mautic": MAUTIC,
    "microsoftExcel": EXCEL,
    "microsoftOneDrive": ONEDRIVE,
    "microsoftTeams": TEAMS,
    "n8n": N8N,
    "nocoDb": NOCODB,
    "openWeatherMap": OPENWEATHERMAP,
    "pipedrive": PIPEDRIVE,
    "reddit": REDDIT,
    "salesforce": SALESFORCE,
    "sendGrid": SENDGRID,
    "shopify": SHOPIFY,
    "spotify": SPOTIFY,
    "strapi": STRAPI,
    "supabase": SUPABASE,
    "todoist": TODOIST,
    "trello": TRELLO,
    "twilio": TWILIO,
    "twitter": TWITTER,
    "webflow": WEBFLOW,
    "whatsApp": WHATSAPP,
    "wooCommerce": WOOCOMMERCE,
    "wordpress": WORDPRESS,
    "youTube": YOUTUBE,
    "zendesk": ZENDESK,
}
