"""The addresses of dead letters."""

from django.urls import URLPattern, path

from dlq.api import alert_rules, alerts, entries, export, keeping, resolving, reveal

ENTRY = "v1/DeadLetterQueue/<uuid:id>"

urlpatterns: list[URLPattern] = [
    path("v1/DeadLetterQueue", entries.Entries.as_view()),
    path("v1/DeadLetterQueue/export", export.ExportEntries.as_view()),
    path("v1/DeadLetterQueue/discard", resolving.DiscardEntries.as_view()),
    path(ENTRY, entries.OneEntry.as_view()),
    path(f"{ENTRY}/requeue", resolving.Requeue.as_view()),
    path(f"{ENTRY}/discard", resolving.DiscardEntry.as_view()),
    path(f"{ENTRY}/fix", resolving.Fix.as_view()),
    path(f"{ENTRY}/skip", resolving.Skip.as_view()),
    path(f"{ENTRY}/restore", keeping.RestoreEntry.as_view()),
    path(f"{ENTRY}/pin", keeping.PinEntry.as_view()),
    path(f"{ENTRY}/unpin", keeping.UnpinEntry.as_view()),
    path(f"{ENTRY}/reveal", reveal.RevealEntry.as_view()),
    path("v1/Run/<uuid:id>/quarantine", entries.QuarantineRun.as_view()),
    path("v1/AlertRule", alert_rules.AlertRules.as_view()),
    path("v1/AlertRule/<uuid:id>", alert_rules.OneAlertRule.as_view()),
    path("v1/AlertRule/<uuid:id>/test", alert_rules.TryAlertRule.as_view()),
    path("v1/Alert", alerts.Alerts.as_view()),
    path("v1/AlertDelivery", alerts.AlertDeliveries.as_view()),
    path("v1/AlertDelivery/<uuid:id>/resend", alerts.ResendAlertDelivery.as_view()),
]
