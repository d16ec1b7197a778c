"""What `deploy` has is what this Satchel takes: options, variables, paths."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from satchel_install.oci._reference import parse_reference
from satchel_server.commands.serve import command
from tests.unit.usage.library import counts, keep, load, place, read

DEPLOY = Path(__file__).parents[2] / "deploy"


def parsed(arguments: list[str]) -> dict[str, Any]:
    """Return the options of ``satchel serve`` with these arguments."""
    with click.Context(command) as context:
        command.parse_args(context, arguments)
        return context.params


COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def manifests() -> dict[str, dict[str, Any]]:
    """Return what is in the file for Kubernetes, by kind."""
    text = (DEPLOY / "kubernetes/satchel.yaml").read_text()
    return {document["kind"]: document for document in yaml.safe_load_all(text)}


def containers() -> dict[str, dict[str, Any]]:
    """Return the containers of the server, by where they are declared."""
    spec = manifests()["Deployment"]["spec"]["template"]["spec"]
    servers = {n: s for n, s in COMPOSE["services"].items() if n.startswith("satchel")}
    return {**servers, "pod": spec["containers"][0]}


@pytest.mark.parametrize("where", containers())
def test_each_line_is_one_that_serve_takes(where: str) -> None:
    container = containers()[where]
    options = parsed([*(container.get("args") or container["command"])])

    assert options["paths"][0].startswith("oci://")
    assert options["max_age"]
    assert any(limit.startswith("drain_s=") for limit in options["limits"])


def test_the_job_removes_old_events_of_the_database_of_the_servers(
    tmp_path: Path,
) -> None:
    job = manifests()["CronJob"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = job["containers"]
    pod = containers()["pod"]
    variables = {one["name"]: one for one in container["env"]}
    for name in ("SATCHEL_USAGE", "PGPASSWORD"):
        assert variables[name] in pod["env"]
    assert container["image"] == pod["image"]
    keep("sqlite", tmp_path, [load("old", 0.0), load("new", time.time())])

    done = subprocess.run(
        [sys.executable, "-m", *container["command"]],
        env={
            **os.environ,
            "SATCHEL_USAGE_DAYS": variables["SATCHEL_USAGE_DAYS"]["value"],
            "SATCHEL_USAGE": f"sqlite://{place('sqlite', tmp_path)}",
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    records = read(place("sqlite", tmp_path), time.time(), 36_500)
    assert counts(records) == {"new": 1}


def test_the_servers_of_compose_can_ask_its_registry() -> None:
    """It has no TLS, so they ask it on their own machine, which is its network."""
    servers = [one for name, one in containers().items() if name != "pod"]
    lines = [one["entrypoint"][2:] + one["command"] for one in servers]
    options = [parsed(line) for line in lines]
    balancer = COMPOSE["configs"]["balancer"]["content"]

    assert {parse_reference(one["paths"][0]).home for one in options} == {
        "http://localhost:5000/"
    }
    assert {one["network_mode"] for one in servers} == {"service:registry"}
    ports = sorted(one["port"] for one in options)
    assert [int(port) for port in re.findall(r" registry:(\d+)", balancer)] == ports
    assert len({*ports, 5000}) == len(servers) + 1


def test_the_image_has_the_extras_that_the_lines_need() -> None:
    text = (DEPLOY / "Containerfile").read_text()
    (extras,) = [part for part in text.split('"') if part.startswith(".[")]
    pyproject = (DEPLOY.parent / "pyproject.toml").read_text()

    for extra in extras[2:-1].split(","):
        assert f"\n{extra} = [" in pyproject
    assert {"serve", "http", "install", "postgres"} <= {*extras[2:-1].split(",")}


def test_the_pause_at_the_end_has_room_for_what_is_in_flight() -> None:
    from satchel_server import GuardSettings

    text = (DEPLOY / "kubernetes/satchel.yaml").read_text()
    spec = yaml.safe_load(text.split("---")[0])["spec"]["template"]["spec"]
    (drain,) = [a for a in spec["containers"][0]["args"] if "drain_s" in a]

    needed = float(drain.rpartition("=")[2]) + GuardSettings().finish_s
    assert spec["terminationGracePeriodSeconds"] > needed


def test_kubernetes_takes_the_folder_together() -> None:
    program = shutil.which("kubectl")
    if program is None:
        pytest.skip("kubectl is not installed; it reads deploy/kubernetes offline")
    done = subprocess.run(
        [program, "kustomize", str(DEPLOY / "kubernetes")],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    kinds = [document["kind"] for document in yaml.safe_load_all(done.stdout)]
    assert sorted(kinds) == ["CronJob", "Deployment", "PodDisruptionBudget", "Service"]
