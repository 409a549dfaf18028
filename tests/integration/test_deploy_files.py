"""The files in deploy/, as far as they can be checked without a container engine or a cluster.

Compose's own parser and kustomize check the files, and tests compare them with each other and with
the code. `make check` validates them against Kubernetes' schemas.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
import yaml

from valkyr_project import run
from valkyr_project.processes.commands import ProcessCommand, web

PROJECT = Path(__file__).parents[2]
DEPLOY = PROJECT / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
PINNED = re.compile(r"[a-z0-9/-]+:[\w.-]+@sha256:[0-9a-f]{64}")
PASSWORDS = {
    line.partition("=")[0]: "x" * 8
    for line in (DEPLOY / "compose.env.example").read_text().splitlines()
    if re.fullmatch(r"[A-Z_]+=", line)
}


def needs(program: str) -> str:
    """Return the program's path. If it is missing, skip the test with the reason; in CI, fail."""
    path = shutil.which(program)
    if path is None:
        why = f"{program} is not installed (Debian: apt-get install {program})"
        if os.environ.get("CI"):
            pytest.fail(why)
        pytest.skip(why)
    return path


def compose(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Compose, which only reads files here and needs no engine."""
    program = needs("docker-compose")
    return subprocess.run(
        [program, "--file", str(DEPLOY / "compose.yaml"), *words],
        env={"PATH": os.environ["PATH"], **environment},
        cwd=DEPLOY / "kubernetes",  # without a .env file
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_the_worker_that_runs_code_gets_a_profile_and_loses_nothing(tmp_path: Path) -> None:
    more = ("--file", str(DEPLOY / "compose.code-sandbox.yaml"))
    profile = tmp_path / "seccomp.json"
    profile.write_text("{}")

    done = compose(*more, "config", **PASSWORDS, VALKYR_SECCOMP=str(profile))

    assert done.returncode == 0, done.stderr
    found = yaml.safe_load(done.stdout)["services"]
    assert set(found) == set(services())
    for name, one in found.items():
        if name != "worker-default":
            assert one.get("security_opt") == services()[name].get("security_opt"), name
    worker = found["worker-default"]
    assert worker["environment"]["VALKYR_CODE_SANDBOX"] == "bubblewrap"
    assert "no-new-privileges:true" in worker["security_opt"]
    assert f"seccomp:{profile}" in str(worker["security_opt"]).replace("=", ":")
    for name in ("web", "worker-control", "worker-default"):
        assert found[name]["environment"]["VALKYR_PYTHON_CODE"] == "1", name
    assert compose(*more, "config", **PASSWORDS).returncode != 0, "no profile, no start"


def test_the_profile_adds_six_calls_to_what_it_is_given() -> None:
    default = '{"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{"names": ["read"]}]}'
    done = subprocess.run(
        [needs("jq"), "--from-file", str(DEPLOY / "seccomp.code-sandbox.jq")],
        input=default,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    given, added = json.loads(done.stdout)["syscalls"]
    assert given == {"names": ["read"]}
    assert added["action"] == "SCMP_ACT_ALLOW"
    page = (PROJECT / "docs" / "how-to" / "code-sandbox.md").read_text()
    assert len(added["names"]) == 6
    assert [name for name in added["names"] if f"`{name}`" not in page] == []


def manifests() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted((KUBERNETES / "base").glob("*.yaml")):
        for document in yaml.safe_load_all(path.read_text()):
            if document["kind"] != "Kustomization":
                yield path.name, document


def pods() -> dict[str, dict[str, Any]]:
    """Return the specification of every pod that the base starts, by the name of its controller."""
    return {
        document["metadata"]["name"]: document["spec"]["template"]["spec"]
        for _, document in manifests()
        if document["kind"] in {"Deployment", "Job"}
    }


@cache
def services() -> dict[str, dict[str, Any]]:
    """Return the services as Compose reads them; cached, because reading takes a second."""
    done = compose("config", **PASSWORDS)
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, Any]] = yaml.safe_load(done.stdout)["services"]
    return found


def ours() -> dict[str, dict[str, Any]]:
    return {name: one for name, one in services().items() if one["image"].startswith("valkyr")}


def test_every_image_of_others_is_pinned_by_tag_and_digest() -> None:
    named = {one["image"] for one in services().values()} - {
        one["image"] for one in ours().values()
    }
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    bases = re.findall(r"^FROM (\S+)", dockerfile, re.MULTILINE)
    assert set(bases) == {"${PYTHON}"}, "an image that no ARG names"
    assert not re.search(r"^# *syntax=", dockerfile, re.MULTILINE), "an image of the builder's"
    named |= set(re.findall(r"^ARG PYTHON=(\S+)", dockerfile, re.MULTILINE))
    in_pods = {
        container["image"]
        for pod in pods().values()
        for container in [*pod.get("initContainers", []), *pod["containers"]]
    }

    assert len(named) == 7
    assert [one for one in sorted(named) if not PINNED.fullmatch(one)] == []
    assert in_pods == {"valkyr"}, "kustomization.yaml names the image"


def test_compose_reads_its_file_and_starts_every_kind_of_process() -> None:
    found = ours()

    kinds = {tuple(one["command"])[:3] for one in found.values()}
    assert {"web", "worker", "beat", "flower", "migrate"} == {kind[0] for kind in kinds}
    queues = {kind[2] for kind in kinds if kind[0] == "worker"}
    assert queues == {"control", "default", "io"}
    beats = {name for name, one in found.items() if one["command"][0] == "beat"}
    assert beats == {"beat-1", "beat-2", "beat-b"}


def test_containers_write_nowhere_and_may_nothing() -> None:
    for name, one in ours().items():
        assert one["read_only"] is True, name
        assert one["cap_drop"] == ["ALL"], name
        assert one["security_opt"] == ["no-new-privileges:true"], name


def test_what_serves_waits_for_the_servers_and_the_tables() -> None:
    for name, one in ours().items():
        wanted = one["depends_on"]
        cell = "-b" if "VALKYR_CELL" in one["environment"] else ""
        assert wanted[f"postgres{cell}"]["condition"] == "service_healthy", name
        if name != f"migrate{cell}":
            done = wanted[f"migrate{cell}"]["condition"]
            assert done == "service_completed_successfully", name
            assert one["healthcheck"]["test"], name


@pytest.mark.parametrize("name", sorted(PASSWORDS.keys() - {"COMPOSE_PROJECT_NAME"}))
def test_no_password_has_a_default(name: str) -> None:
    done = compose("config", "--quiet", **{k: v for k, v in PASSWORDS.items() if k != name})

    assert done.returncode != 0
    assert "set it in deploy/.env" in done.stderr


def test_ports_are_open_to_this_machine_alone() -> None:
    for name, one in services().items():
        for port in one.get("ports", []):
            text = port if isinstance(port, str) else str(port.get("host_ip", port))
            assert text.startswith("127.0.0.1"), f"{name} listens on {port}"


def test_the_base_names_every_file_of_its_folder() -> None:
    named = yaml.safe_load((KUBERNETES / "base" / "kustomization.yaml").read_text())["resources"]
    found = {path.name for path in (KUBERNETES / "base").glob("*.yaml")}

    assert sorted(named) == sorted(found - {"kustomization.yaml"})


def kustomized(folder: str) -> list[dict[str, Any]]:
    """Return the manifests that `kubectl apply -k` of the folder applies."""
    done = subprocess.run(
        [needs("kubectl"), "kustomize", str(KUBERNETES / folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return list(yaml.safe_load_all(done.stdout))


@pytest.mark.parametrize("folder", ["base", "keda"])
def test_kustomize_puts_the_manifests_together(folder: str) -> None:
    found = [one for one in kustomized(folder) if one["kind"] == "Deployment"]
    scaled = {one["metadata"]["name"] for one in found if "replicas" not in one["spec"]}
    workers = {"valkyr-worker-default", "valkyr-worker-io"} if folder == "keda" else set()
    assert scaled == {"valkyr-web"} | workers


def test_a_cell_has_its_own_workers_and_the_base_settings() -> None:
    found = kustomized("cell")

    kinds = {one["kind"] for one in found}
    assert kinds == {"Deployment", "Job", "NetworkPolicy", "PodDisruptionBudget"}
    pods = {
        one["metadata"]["name"]: one["spec"]["template"]
        for one in found
        if one["kind"] in {"Deployment", "Job"}
    }
    assert set(pods) == {
        *("valkyr-migrate-b", "valkyr-beat-b", "valkyr-worker-control-b"),
        *("valkyr-worker-default-b", "valkyr-worker-io-b"),
    }
    for name, pod in pods.items():
        containers = [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]
        for one in containers:
            assert one["env"] == [{"name": "VALKYR_CELL", "value": "b"}], name
            assert {"configMapRef": {"name": "valkyr"}} in one["envFrom"], name
        assert pod["spec"]["serviceAccountName"] == "valkyr", name


def test_no_selector_finds_pods_of_the_base_and_of_a_cell() -> None:
    for folder, name in (("base", "valkyr"), ("cell", "valkyr-b")):
        for one in kustomized(folder):
            spec, key = one.get("spec", {}), "app.kubernetes.io/name"
            if one["kind"] in {"Deployment", "Job"}:
                assert spec["template"]["metadata"]["labels"][key] == name
            if one["kind"] in {"Deployment", "PodDisruptionBudget"}:
                assert spec["selector"]["matchLabels"][key] == name
            if one["kind"] == "NetworkPolicy":
                assert spec["podSelector"]["matchLabels"][key] == name


def test_every_pod_keeps_to_the_restricted_standard() -> None:
    for name, pod in pods().items():
        assert pod["securityContext"]["runAsNonRoot"] is True, name
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert pod["automountServiceAccountToken"] is False, name
        for container in [*pod.get("initContainers", []), *pod["containers"]]:
            rights = container["securityContext"]
            assert rights["readOnlyRootFilesystem"] is True, name
            assert rights["allowPrivilegeEscalation"] is False, name
            assert rights["capabilities"] == {"drop": ["ALL"]}, name
            assert container["resources"]["limits"]["memory"], name


def test_every_selector_finds_the_pods_it_means() -> None:
    labels = [
        document["spec"]["template"]["metadata"]["labels"]
        for _, document in manifests()
        if document["kind"] == "Deployment"
    ]
    for _, document in manifests():
        if document["kind"] in {"PodDisruptionBudget", "Service"}:
            spec = document["spec"]["selector"]
            wanted = spec.get("matchLabels", spec)
            found = [one for one in labels if wanted.items() <= one.items()]
            assert len(found) == 1, document["metadata"]["name"]


def test_pods_may_call_dns_database_and_broker_alone() -> None:
    policies = [one for _, one in manifests() if one["kind"] == "NetworkPolicy"]
    leaving = {
        one["metadata"]["name"]: one["spec"]
        for one in policies
        if "Egress" in one["spec"]["policyTypes"]
    }

    ours = {"matchLabels": {"app.kubernetes.io/name": "valkyr"}}
    assert all(spec["podSelector"] == ours for spec in leaving.values())
    assert "egress" not in leaving["valkyr-calls-nobody"], "what no other policy opens is closed"
    opened = [rule for spec in leaving.values() for rule in spec.get("egress", [])]
    for rule in opened:
        assert rule["to"], rule
        assert {"ipBlock": {"cidr": "0.0.0.0/0"}} not in rule["to"], rule
    ports = {port["port"] for rule in opened for port in rule["ports"]}
    assert ports == {53, 5432, 6432, 6379, 5671, 5672}


def test_the_example_of_open_hosts_is_for_pods_that_there_are() -> None:
    policy = yaml.safe_load((KUBERNETES / "hosts.example.yaml").read_text())
    [chosen] = policy["spec"]["podSelector"]["matchExpressions"]
    found = {
        document["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/component"]
        for _, document in manifests()
        if document["kind"] == "Deployment"
    }

    assert policy["spec"]["policyTypes"] == ["Egress"]
    assert set(chosen["values"]) == found - {"beat", "flower"}


def test_the_example_opens_no_private_address_and_no_metadata() -> None:
    policy = yaml.safe_load((KUBERNETES / "hosts.example.yaml").read_text())
    closed = ["10.1.2.3", "172.31.0.1", "192.168.1.1", "100.64.0.1", "169.254.169.254"]
    blocks = [
        (to["ipBlock"], [port["port"] for port in rule["ports"]])
        for rule in policy["spec"]["egress"]
        for to in rule["to"]
    ]

    [(internet, ports)] = [one for one in blocks if one[0]["cidr"] == "0.0.0.0/0"]
    assert ports == [443]
    for address in map(ip_address, closed):
        assert any(address in ip_network(one) for one in internet["except"]), address
    others = [ip_network(block["cidr"]) for block, _ in blocks if block is not internet]
    assert all(one.num_addresses == 1 for one in others), "a range in place of a system"


def test_a_worker_is_given_longer_than_its_own_end_takes() -> None:
    drain, spare = 20, 10  # VALKYR_DRAIN_SECONDS and its documented upper bound

    for name, pod in pods().items():
        if "worker" in name:
            assert pod["terminationGracePeriodSeconds"] >= drain + spare, name
    for name, one in ours().items():
        assert float(str(one["stop_grace_period"]).removesuffix("s")) >= drain + spare, name


def test_what_prometheus_is_told_of_compose_is_there() -> None:
    told = yaml.safe_load((DEPLOY / "compose" / "prometheus.yml").read_text())
    targets = [
        target.partition(":")
        for job in told["scrape_configs"]
        for one in job["static_configs"]
        for target in one["targets"]
    ]

    found = ours()
    port = found["web"]["environment"]["VALKYR_METRICS_PORT"]
    looked_up = told["scrape_configs"][0]["dns_sd_configs"][0]
    cell = {name for name, one in found.items() if "VALKYR_CELL" in one["environment"]}
    assert set(looked_up["names"]) == cell - {"migrate-b"}
    assert str(looked_up["port"]) == port
    assert {name for name, _, _ in targets} == found.keys() - cell - {"migrate", "flower"}
    assert {number for name, _, number in targets if name != "web"} == {port}
    for path in told["rule_files"]:
        assert (DEPLOY / "prometheus" / Path(path).name).is_file()


def started() -> Iterator[tuple[str, list[str]]]:
    """Yield the commands of containers and units."""
    for name, pod in pods().items():
        for container in [*pod.get("initContainers", []), *pod["containers"]]:
            yield name, container["args"]
    for path in sorted((DEPLOY / "systemd").glob("*.service")):
        line = next(x for x in path.read_text().splitlines() if x.startswith("ExecStart="))
        _, entry, words = line.partition("-m valkyr_project.run ")
        assert entry, path.name
        yield path.name, words.split()
    text = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    for name, service in text["services"].items():
        if "valkyr" in str(service.get("image", "")) and "command" in service:
            yield name, service["command"]


def test_the_one_entry_understands_whatever_deploy_tells_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FLOWER_BASIC_AUTH", "someone:something")
    seen = [run.chosen(words) for _, words in started()]

    assert len(seen) > 15
    assert all(isinstance(program, ProcessCommand) for program in seen)


def test_a_worker_gets_the_pool_that_suits_its_queue() -> None:
    control, io, other, chosen = (
        run.chosen(["worker", "--queue", queue, *words])
        for queue, words in (
            ("control", []),
            ("io", []),
            ("reports", []),
            ("io", ["--pool", "prefork"]),
        )
    )

    assert [one.environment["VALKYR_POOL"] for one in (control, io, other, chosen)] == [
        *("threads", "threads", "prefork", "prefork")
    ]
    assert io.command[io.command.index("--concurrency") + 1] == "256"
    assert int(chosen.command[chosen.command.index("--concurrency") + 1]) <= 10


def test_nginx_closes_idle_connections_before_the_web_process_does() -> None:
    kept = re.search(r"keepalive_timeout (\d+)s;", (DEPLOY / "nginx.conf").read_text())
    command = web("127.0.0.1", 8000, 30).command

    assert kept is not None
    assert int(kept[1]) < int(command[command.index("--timeout-keep-alive") + 1])


def test_flower_does_not_start_without_a_password(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("FLOWER_BASIC_AUTH", raising=False)
    with pytest.raises(SystemExit):
        run.chosen(["flower"])

    assert "FLOWER_BASIC_AUTH" in capsys.readouterr().err
