"""A private address is recognised in every notation, behind a name, a translation or a redirect."""

import socket

import pytest

from runners.modules import registry
from runners.modules.base import StepError
from valkyr_plugins.connectors.network.addresses import may_connect

HOSTS = [
    "0",
    "0.0.0.0",
    "[::]",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "0177.0.0.1",
    "0x7f000001",
    "017700000001",
    "127.0.1",
    "localhost.",
    "LOCALHOST",
    "127.0.0.1.",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
]


@pytest.fixture
def send(step_context, monkeypatch):
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "")
    return lambda url, **more: registry.get("http.request").run({"url": url, **more}, step_context)


@pytest.mark.parametrize("host", HOSTS)
def test_no_writing_of_this_machines_address_reaches_it(partner, send, host):
    with pytest.raises(StepError):
        send(f"http://{host}:{partner.server_port}/echo")

    assert partner.received == []


@pytest.mark.parametrize("host", HOSTS)
def test_no_redirect_leads_to_this_machine(partner, send, monkeypatch, host):
    # The redirecting partner is reached at an allowed address, the target is not.
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "127.0.0.1/32")
    target = f"http://{host}:{partner.server_port}/secret".replace("127.0.0.1", "127.0.0.2")
    resolve = socket.getaddrinfo

    def elsewhere(name, *arguments, **options):
        # Every spelling of 127.0.0.1 except the partner's own is treated as another machine.
        return resolve("127.0.0.1" if name == "127.0.0.1" else "127.0.0.9", *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", elsewhere)
    with pytest.raises(StepError):
        send(f"{partner.url}/redirect", query={"to": target})

    assert len(partner.received) == 1  # the redirect itself


@pytest.mark.parametrize(
    "name",
    [
        "metadata.google.internal",
        "metadata",
        "instance-data.ec2.internal",
        "kubernetes.default.svc",
    ],
)
def test_a_name_is_as_private_as_what_it_stands_for(send, monkeypatch, name):
    resolve = socket.getaddrinfo

    def inside(host, *arguments, **options):
        return resolve("169.254.169.254" if host == name else host, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", inside)

    with pytest.raises(StepError, match=r"169\.254\.169\.254, a private or special address"):
        send(f"http://{name}/computeMetadata/v1/", headers={"Metadata-Flavor": "Google"})


def test_a_name_that_turns_private_after_the_check_is_not_asked_again(send, monkeypatch):
    asked, tried = [], []

    def turning(host, port, *arguments, **options):
        asked.append(host)
        address = "8.8.8.8" if len(asked) == 1 else "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    def connecting(address, *arguments, **options):
        tried.append(address[0])
        raise OSError("unreachable")

    monkeypatch.setattr(socket, "getaddrinfo", turning)
    monkeypatch.setattr(socket, "create_connection", connecting)

    with pytest.raises(StepError):
        send("http://turning.test/")

    assert (asked, tried) == (["turning.test"], ["8.8.8.8"])


@pytest.mark.parametrize(
    "address",
    [
        "::ffff:0:127.0.0.1",  # SIIT
        "64:ff9b::a9fe:a9fe",  # NAT64 to the metadata service
        "64:ff9b::a00:1",
        "2002:a9fe:a9fe::",  # 6to4
        "2001:0:a00:1::",  # Teredo's server is public here, its client is not
        "2001:0:0:0:0:0:f5ff:fffe",
        "::ffff:169.254.169.254",
        "fe80::1%25eth0",
        "169.254.170.2",
        "198.18.0.1",
        "203.0.113.1",
    ],
)
def test_translated_and_special_addresses_are_refused(address, monkeypatch):
    monkeypatch.delenv("VALKYR_HTTP_ALLOWED_NETWORKS", raising=False)

    assert not may_connect(address)


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
def test_no_proxy_of_the_environment_resolves_names_for_us(partner, send, monkeypatch, variable):
    monkeypatch.setenv(variable, partner.url)
    monkeypatch.setattr(
        socket, "create_connection", lambda *_, **__: (_ for _ in ()).throw(OSError("no route"))
    )

    with pytest.raises(StepError):
        send("http://8.8.8.8/echo")

    assert partner.received == []
