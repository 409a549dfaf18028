"""HTTP steps reach only public addresses and allowed ranges, at every hop."""

import socket

import pytest
from django.core.exceptions import ImproperlyConfigured

from runners.modules import registry
from runners.modules.base import StepError
from runners.states import ErrorType
from valkyr_plugins.connectors.network.addresses import may_connect

REFUSED = [
    "127.0.0.1",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "0.0.0.0",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fe80::1%eth0",
    "fc00::1",
    "fd00:ec2::254",
    "fec0::1",
    "ff02::1",
    "2001:db8::1",
    "::ffff:127.0.0.1",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::7f00:1",
    "2002:7f00:1::",
]


@pytest.fixture
def send(step_context):
    return lambda url, **more: registry.get("http.request").run({"url": url, **more}, step_context)


@pytest.mark.parametrize("address", REFUSED)
def test_special_addresses_are_refused(address, monkeypatch):
    monkeypatch.delenv("VALKYR_HTTP_ALLOWED_NETWORKS", raising=False)

    assert not may_connect(address)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_public_addresses_are_allowed(address, monkeypatch):
    monkeypatch.delenv("VALKYR_HTTP_ALLOWED_NETWORKS", raising=False)

    assert may_connect(address)


def test_an_administrator_may_allow_ranges(monkeypatch):
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "10.0.0.0/8, fd00::/8")

    assert may_connect("10.1.2.3")
    assert may_connect("::ffff:10.1.2.3")
    assert may_connect("fd00::1")
    assert not may_connect("192.168.1.1")


def test_a_range_that_is_none_is_named(monkeypatch):
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "10.0.0.0/8,intranet")

    with pytest.raises(ImproperlyConfigured, match=r"such as 10\.0\.0\.0/8, not 'intranet'"):
        may_connect("8.8.8.8")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "127.1"])
def test_a_step_cannot_reach_this_machine_however_it_is_written(partner, send, monkeypatch, host):
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "")

    with pytest.raises(StepError, match="private or special address") as caught:
        send(f"http://{host}:{partner.server_port}/echo")

    assert caught.value.error_type == ErrorType.PERMANENT
    assert partner.received == []


def test_the_address_that_was_checked_is_the_one_connected_to(partner, send, monkeypatch):
    resolve, asked = socket.getaddrinfo, []

    def rebinding(host, *arguments, **options):
        if host != "rebind.test":
            return resolve(host, *arguments, **options)
        asked.append(host)
        return resolve("127.0.0.1" if len(asked) == 1 else "192.0.2.1", *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)

    answer = send(f"http://rebind.test:{partner.server_port}/echo").outputs

    assert asked == ["rebind.test"]
    assert answer["body"]["headers"]["host"] == f"rebind.test:{partner.server_port}"


def test_of_a_names_addresses_only_permitted_ones_are_tried(partner, send, monkeypatch):
    resolve, connect, tried = socket.getaddrinfo, socket.create_connection, []

    def two_addresses(host, *arguments, **options):
        hosts = ["10.0.0.1", "127.0.0.1"] if host == "both.test" else [host]
        return [found for name in hosts for found in resolve(name, *arguments, **options)]

    def connecting(address, *arguments, **options):
        tried.append(address[0])
        return connect(address, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", two_addresses)
    monkeypatch.setattr(socket, "create_connection", connecting)

    send(f"http://both.test:{partner.server_port}/echo")

    assert tried == ["127.0.0.1"]


def test_a_redirect_is_followed_and_tells_where_it_led(partner, send):
    answer = send(f"{partner.url}/redirect", query={"to": "/echo?x=1"}).outputs

    assert answer["url"] == f"{partner.url}/echo?x=1"
    assert answer["status"] == 200


def test_a_redirect_to_a_private_address_is_refused(partner, send):
    with pytest.raises(StepError, match=r"10\.0\.0\.1, a private or special address"):
        send(f"{partner.url}/redirect", query={"to": "http://10.0.0.1/latest/meta-data"})


@pytest.mark.parametrize("target", ["file:///etc/passwd", "gopher://127.0.0.1/"])
def test_a_redirect_to_another_scheme_is_refused(partner, send, target):
    with pytest.raises(StepError) as caught:
        send(f"{partner.url}/redirect", query={"to": target})

    assert caught.value.error_type == ErrorType.PERMANENT


def test_a_redirect_is_not_followed_where_it_is_not_wanted(partner, send):
    answer = send(f"{partner.url}/redirect?to=/echo", followRedirects=False).outputs

    assert answer["status"] == 302
    assert answer["headers"]["location"] == "/echo"


def test_redirects_come_to_an_end(partner, send):
    with pytest.raises(StepError, match="more than 5 redirects") as caught:
        send(f"{partner.url}/circle")

    assert caught.value.error_type == ErrorType.PERMANENT


def test_the_endless_body_of_a_redirect_is_not_read(partner, send):
    assert send(f"{partner.url}/endless-redirect").outputs["status"] == 200


def test_secrets_in_headers_do_not_follow_to_another_origin(partner, send):
    elsewhere = f"http://localhost:{partner.server_port}/echo"

    headers = {"X-Api-Key": "secret", "Authorization": "Bearer secret", "Accept": "text/x"}
    seen = send(
        f"{partner.url}/redirect", query={"to": elsewhere, "code": 307}, headers=headers
    ).outputs["body"]

    assert "secret" not in str(seen)
    assert seen["headers"]["accept"] == "text/x"


def test_a_redirected_post_keeps_its_body_where_the_status_says_so(partner, send):
    for code, method in ((307, "POST"), (308, "POST"), (303, "GET")):
        seen = send(
            f"{partner.url}/redirect",
            method="POST",
            json={"a": 1},
            query={"to": "/echo", "code": code},
        ).outputs["body"]

        assert (seen["method"], seen["body"]) == (method, '{"a": 1}' if method == "POST" else "")
