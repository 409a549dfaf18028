"""The addresses of quotas, budgets and costs."""

from django.urls import path

from valkyr_plugins.limits.api import budgets, costs, quotas

urlpatterns = [
    path("v1/Quota", quotas.Quotas.as_view()),
    path("v1/Quota/<uuid:id>", quotas.OneQuota.as_view()),
    path("v1/Budget", budgets.Budgets.as_view()),
    path("v1/Budget/<uuid:id>", budgets.OneBudget.as_view()),
    path("v1/CostEntry", costs.Costs.as_view()),
    path("v1/Spend", costs.SpendReport.as_view()),
]
