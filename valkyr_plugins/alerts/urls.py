"""The addresses of alert rules, alerts and their messages."""

from django.urls import path

from valkyr_plugins.alerts.api import views

urlpatterns = [
    path("v1/AlertRule", views.AlertRules.as_view()),
    path("v1/AlertRule/<uuid:id>", views.OneAlertRule.as_view()),
    path("v1/AlertRule/<uuid:id>/test", views.TryAlertRule.as_view()),
    path("v1/Alert", views.Alerts.as_view()),
    path("v1/AlertDelivery", views.AlertDeliveries.as_view()),
    path("v1/AlertDelivery/<uuid:id>/resend", views.ResendAlertDelivery.as_view()),
]
