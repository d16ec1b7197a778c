"""Servers that follow a tag: no restart, no release that was withdrawn, and an age."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import cast

import pytest

from tests.functional.library import run
from tests.functional.serving import Served, serving
from tests.install.conftest import KILLS
from tests.install.oci.conftest import (
    FakeRegistry,
    Registry,
    Request,
    edit,
    opened,
    pushed,
)
from tests.install.test_verified_servers import asked

pytestmark = [pytest.mark.slow, pytest.mark.row("U16")]

EVERY_S = 0.5


BLOB = "/v2/team/skills/blobs/"


def files(fake: FakeRegistry) -> list[str]:
    """Return the digests of all files of the release."""
    return [layer["digest"] for layer in fake.manifest("prod")["layers"]]


def ready(served: Served) -> dict[str, object]:
    """Return what /readyz says."""
    return cast("dict[str, object]", json.loads(asked(f"{served.url}/readyz")[1]))


def until(condition: Callable[[], bool], most_s: float = 30.0) -> float:
    """Wait until something holds; return the seconds that it took."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < most_s
        time.sleep(0.02)
    return time.monotonic() - began


def is_refused(address: str) -> bool:
    """Tell whether an address answers with an error."""
    return asked(address)[0] >= 400


def test_a_server_follows_a_tag(
    registry: Registry, library: Path, project: Path
) -> None:
    first = pushed(registry, library)
    options = "--refresh", str(EVERY_S)
    with serving(registry.address(), *options, cwd=project) as served:
        assert ready(served)["release"] == first
        edit(library, "sql", "More.")
        second = pushed(registry, library)
        until(lambda: ready(served)["release"] == second)
        assert "More." in asked(f"{served.url}/v1/skills/sql")[1]


def test_three_processes_refuse_what_is_withdrawn(
    registry: Registry, library: Path, project: Path
) -> None:
    pushed(registry, library)
    options = "--refresh", str(EVERY_S)
    with ExitStack() as stack:
        servers = [
            stack.enter_context(serving(registry.address(), *options, cwd=project))
            for _ in range(3)
        ]
        for served in servers:
            assert asked(f"{served.url}/v1/skills/pdf")[0] == 200
        result = run("withdraw", registry.address(), "pdf", "--reason", "It leaks.")
        assert result.exit_code == 0, result.output
        for served in servers:
            address = f"{served.url}/v1/skills/pdf"
            until(partial(is_refused, address))
            status, text, _ = asked(f"{served.url}/v1/skills/pdf/files/scripts/fill.py")
            assert status >= 400
            assert "filled" not in text
            assert asked(f"{served.url}/v1/skills/sql")[0] == 200
            reasons = json.dumps(ready(served)["degraded"])
            assert "unvouched-skill" in reasons


def test_a_server_serves_up_to_an_age(
    fake: FakeRegistry, library: Path, project: Path
) -> None:
    first = pushed(fake, library)
    options = "--refresh", str(EVERY_S), "--max-age", "8"
    with serving(fake.address(), *options, cwd=project) as served:
        assert ready(served)["release"] == first

        def away(request: Request) -> bool:
            request.answer(503)
            return True

        until(lambda: all(f"GET {BLOB}{one}" in fake.requests for one in files(fake)))
        fake.fault = away
        until(lambda: ready(served)["degraded_count"] != 0)
        assert asked(f"{served.url}/v1/skills/sql")[0] == 200
        until(lambda: asked(f"{served.url}/readyz")[0] == 503)
        assert asked(f"{served.url}/v1/skills/sql")[0] >= 400
        fake.fault = lambda _: False
        until(lambda: asked(f"{served.url}/readyz")[0] == 200)
        assert asked(f"{served.url}/v1/skills/sql")[0] == 200


def test_an_age_is_for_registries(library: Path) -> None:
    result = run("serve", str(library), "--max-age", "3", "--port", "0")
    assert result.exit_code != 0
    assert "oci://" in result.output


def test_a_push_that_is_killed_leaves_one_whole_release(
    registry: Registry, library: Path, project: Path
) -> None:
    for number in range(40):
        (library / f"sql/{number}.txt").write_text(f"{number}\n" * 50)
    before = b"0\n" * 50
    pushed(registry, library)
    line = [sys.executable, "-m", "satchel", "push", registry.address()]
    line += ["--skills", str(library)]
    ends: Counter[str] = Counter()
    whole_s, number = 0.0, 0
    while ends["killed"] < KILLS:
        number += 1
        # More than one file to send, so that one may have come and another not.
        for name in range(10):
            (library / f"sql/{name}.txt").write_text(f"change {number} of {name}\n")
        now = (library / "sql/0.txt").read_bytes()
        began = time.monotonic()
        process = subprocess.Popen(
            line,
            cwd=project,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        if not whole_s:
            # The first one tells how long a push is.
            assert process.wait() == 0
            whole_s, before = time.monotonic() - began, now
            continue
        # Spread evenly over the whole of it.
        time.sleep(whole_s * (ends["killed"] + 1) / KILLS)
        os.killpg(process.pid, signal.SIGKILL)
        if process.wait() == -signal.SIGKILL:
            ends["killed"] += 1
        else:
            ends["over before that"] += 1
            whole_s *= 0.98
        with opened(registry) as skills:
            # Old or new, and whole.
            data = skills.load("sql", "0.txt").data
            assert data in {before, now}, number
            for name in range(40):
                text = skills.load("sql", f"{name}.txt").data
                is_new = data == now and name < 10
                assert not is_new or text == f"change {number} of {name}\n".encode()
        ends["old release" if data == before else "new release"] += 1
        pushed(registry, library)
        with opened(registry) as skills:
            assert skills.load("sql", "0.txt").data == now
        before = now
    sys.stdout.write(f"{number - 1} pushes of {whole_s:.2f} s: {dict(ends)}\n")
    assert ends["old release"]
