"""The addresses of alert rules, alerts and their messages."""

from django.urls import path

from valkyr_plugins.alerts.api import alert_rules, alerts

urlpatterns = [
    path("v1/AlertRule", alert_rules.AlertRules.as_view()),
    path("v1/AlertRule/<uuid:id>", alert_rules.OneAlertRule.as_view()),
    path("v1/AlertRule/<uuid:id>/test", alert_rules.TryAlertRule.as_view()),
    path("v1/Alert", alerts.Alerts.as_view()),
    path("v1/AlertDelivery", alerts.AlertDeliveries.as_view()),
    path("v1/AlertDelivery/<uuid:id>/resend", alerts.ResendAlertDelivery.as_view()),
]
