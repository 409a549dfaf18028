"""The addresses of workspaces, their members and programs, and what these sign in with."""

from django.urls import URLPattern, path

from executions.api import api_tokens, me, memberships, service_accounts, tiers, workspaces

urlpatterns: list[URLPattern] = [
    path("v1/Me", me.Me.as_view()),
    path("v1/ApiToken", api_tokens.ApiTokens.as_view()),
    path("v1/ApiToken/<uuid:id>", api_tokens.OneApiToken.as_view()),
    path("v1/ServiceAccount", service_accounts.ServiceAccounts.as_view()),
    path("v1/ServiceAccount/<uuid:id>", service_accounts.OneServiceAccount.as_view()),
    path("v1/Workspace", workspaces.Workspaces.as_view()),
    path("v1/Workspace/<uuid:id>", workspaces.OneWorkspace.as_view()),
    path("v1/Tier", tiers.Tiers.as_view()),
    path("v1/Tier/<uuid:id>", tiers.OneTier.as_view()),
    path("v1/Membership", memberships.Memberships.as_view()),
    path("v1/Membership/<uuid:id>", memberships.OneMembership.as_view()),
]
