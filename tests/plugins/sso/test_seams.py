"""Tests of private parts of allauth on which the plugin relies."""

from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView


def test_allauth_reads_the_state_of_a_sign_in_in_the_method_that_is_replaced() -> None:
    assert "_get_state" in vars(OAuth2CallbackView), "see valkyr_plugins/sso/views.py"
