"""Single sign-on with OpenID Connect: the provider defines the user's identity and groups.

allauth communicates with the provider (discovery, state, PKCE, tokens); this plugin interprets the
provider's responses.
"""
