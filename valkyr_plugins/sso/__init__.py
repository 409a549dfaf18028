"""Single sign-on by OpenID Connect: who somebody is and what they may do, as their provider says.

allauth talks to the provider (discovery, state, PKCE, tokens); what its answer means here is ours.
"""
