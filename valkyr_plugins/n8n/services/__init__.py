"""The services whose nodes become requests: one table, by n8n's node type."""

from collections.abc import Mapping

from valkyr_plugins.n8n.services.business import GITHUB, HUBSPOT
from valkyr_plugins.n8n.services.calls import Service
from valkyr_plugins.n8n.services.chats import DISCORD, OUTLOOK, TELEGRAM
from valkyr_plugins.n8n.services.google import CALENDAR, DOCS, DRIVE, GMAIL
from valkyr_plugins.n8n.services.records import AIRTABLE, NOTION
from valkyr_plugins.n8n.services.sheets import SHEETS

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
}
