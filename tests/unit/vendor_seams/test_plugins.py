"""Private parts of optional packages on which Valkyr relies, each used in one file."""

import codecs
import inspect
import smtplib
from typing import Any

from django.forms import ModelForm
from openai import OpenAI
from redis.connection import Connection
from s3fs import S3FileSystem


def test_the_openai_client_sends_the_headers_that_provider_sets() -> None:
    see = "openai has changed: see valkyr_plugins/connectors/ai/provider.py"
    assert "_enforce_credentials" in inspect.signature(OpenAI.__init__).parameters, see

    client: Any = OpenAI(api_key="k", base_url="http://127.0.0.1:1")
    client._custom_headers = {"X-Seam": "ours"}

    assert client.default_headers["X-Seam"] == "ours", see


def test_s3fs_calls_s3_by_the_method_that_the_store_calls() -> None:
    see = "s3fs has changed: see valkyr_plugins/connectors/files/s3"
    assert inspect.iscoroutinefunction(S3FileSystem._call_s3), see
    assert [*inspect.signature(S3FileSystem._call_s3).parameters][:2] == ["self", "method"], see
    assert "self._s3creator = " in inspect.getsource(S3FileSystem.set_session), see


def test_redis_py_opens_sockets_in_the_method_that_is_guarded() -> None:
    see = "redis-py has changed: see valkyr_plugins/connectors/messaging/redis_sending.py"
    assert [*inspect.signature(Connection._connect).parameters] == ["self"], see


def test_smtplib_opens_sockets_in_the_method_that_is_guarded() -> None:
    found = [*inspect.signature(smtplib.SMTP._get_socket).parameters]  # type: ignore[attr-defined]

    assert found == ["self", "host", "port", "timeout"], (
        "see valkyr_plugins/connectors/mail/delivery.py"
    )


def test_python_tells_encodings_of_text_from_others() -> None:
    see = "Python has changed: see valkyr_plugins/connectors/files/inputs.py"
    text: Any = codecs.lookup("cp1252")
    other: Any = codecs.lookup("rot13")

    assert text._is_text_encoding, see
    assert not other._is_text_encoding, see


def test_quickjs_ng_is_one_library_that_needs_no_package() -> None:
    import _quickjs
    import quickjs

    see = "quickjs-ng has changed: see valkyr_plugins/connectors/code/confined/javascript.py"
    assert quickjs.Context is _quickjs.Context, see
    assert quickjs.JSException is _quickjs.JSException, see
    assert issubclass(_quickjs.StackOverflow, _quickjs.JSException), see
    known = ("set_memory_limit", "set_max_stack_size", "add_callable", "execute_pending_job")
    assert all(hasattr(_quickjs.Context, name) for name in known), see


def test_django_checks_a_models_fields_in_the_method_that_the_alert_form_replaces() -> None:
    see = "Django has changed: see valkyr_plugins/alerts/admin/alert_rules.py"
    assert [*inspect.signature(ModelForm._post_clean).parameters] == ["self"], see
    assert "self._post_clean()" in inspect.getsource(ModelForm.full_clean), see
