"""The URLs of alert rules, alerts and their messages."""

from django.urls import path

from valkyr_plugins.alerts.api import views

urlpatterns = [
    path("v1/AlertRule", views.AlertRules.as_view(), name="valkyr-alert-rules"),
    path("v1/AlertRule/<uuid:id>", views.OneAlertRule.as_view(), name="valkyr-alert-rule"),
    path(
        "v1/AlertRule/<uuid:id>/test", views.TryAlertRule.as_view(), name="valkyr-alert-rule-test"
    ),
    path("v1/Alert", views.Alerts.as_view(), name="valkyr-alerts"),
    path("v1/AlertDelivery", views.AlertDeliveries.as_view(), name="valkyr-alert-deliveries"),
    path(
        "v1/AlertDelivery/<uuid:id>/resend",
        views.ResendAlertDelivery.as_view(),
        name="valkyr-alert-delivery-resend",
    ),
]
