"""The URLs of quotas, budgets and costs."""

from django.urls import path

from valkyr_plugins.limits.api import budgets, costs, quotas

urlpatterns = [
    path("v1/Quota", quotas.Quotas.as_view(), name="valkyr-quotas"),
    path("v1/Quota/<uuid:id>", quotas.OneQuota.as_view(), name="valkyr-quota"),
    path("v1/Budget", budgets.Budgets.as_view(), name="valkyr-budgets"),
    path("v1/Budget/<uuid:id>", budgets.OneBudget.as_view(), name="valkyr-budget"),
    path("v1/CostEntry", costs.Costs.as_view(), name="valkyr-cost-entries"),
    path("v1/Spend", costs.SpendReport.as_view(), name="valkyr-spend"),
]
