"""What clients see of several servers behind a balancer that pins nobody."""

import os
import re
import shutil
import threading
import time
from collections.abc import Callable

import httpx2
import pytest

from satchel import Options, Satchel
from tests.fleet.asking import CLIENTS, EarlierClient
from tests.fleet.engines import PASSWORD
from tests.fleet.killing import counted, kill_for
from tests.fleet.running import REFRESH_S, Fleet, publish

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

VERSION = re.compile(r"version (\d+)")


def waited(until: Callable[[], object], most_s: float = 20.0) -> None:
    """Wait until something holds."""
    end = time.monotonic() + most_s
    while not until():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.05)


@pytest.mark.row("U18", "N15", "F90")
@pytest.mark.parametrize("client", CLIENTS, ids=lambda each: each.__name__)
def test_each_kind_of_client_is_answered_by_all_servers(
    running: Fleet, client: type[EarlierClient]
) -> None:
    asker = client(running.url)
    try:
        texts = {asker.load("skill-3") for _ in range(20)}
    finally:
        asker.close()

    assert len(texts) == 1
    assert "Do 3 as of version" in texts.pop()


def serving_digests(running: Fleet) -> set[str]:
    """Return the digests that the servers say they serve."""
    digests: set[str] = set()
    for replica in running.replicas:
        body = httpx2.get(f"http://127.0.0.1:{replica.port}/readyz", timeout=30).json()
        digests.add(body["release"])
    return digests


@pytest.mark.row("U18")
def test_all_servers_move_within_a_refresh_and_nobody_gets_a_mixture(
    running: Fleet,
) -> None:
    """A client that verifies has all files of one release, in the middle of it, too."""
    before = serving_digests(running)
    assert len(before) == 1
    orders: list[list[int]] = []
    done = threading.Event()

    def load() -> None:
        while not done.is_set():
            seen: list[int] = []
            orders.append(seen)
            with Satchel(
                running.url, options=Options(allow_private=True), sinks=()
            ) as skills:
                for _ in range(10):
                    for file in (None, "references/more.md"):
                        text = skills.load("skill-5", file).text
                        seen += map(int, VERSION.findall(text))

    thread = threading.Thread(target=load)
    thread.start()
    try:
        publish(running.registry, running.folder, 2)
        waited(lambda: serving_digests(running).isdisjoint(before))
        time.sleep(4 * REFRESH_S)
    finally:
        done.set()
        thread.join()

    assert len(serving_digests(running)) == 1
    # A file of the old release after one of the new would be a mixture.
    assert [seen for seen in orders if seen != sorted(seen)] == []
    assert {version for seen in orders for version in seen} == {1, 2}
    client = EarlierClient(running.url)
    assert {VERSION.findall(client.load("skill-5"))[0] for _ in range(6)} == {"2"}
    client.close()


@pytest.mark.row("F93")
def test_a_server_that_ends_fails_nobody(running: Fleet) -> None:
    """Clients go on elsewhere; a session, too."""
    errors: list[BaseException] = []
    counts = [0] * 12
    done = threading.Event()

    def ask(number: int) -> None:
        try:
            client = CLIENTS[number % len(CLIENTS)](running.url)
            while not done.is_set():
                assert "Do 7" in client.load("skill-7")
                counts[number] += 1
            client.close()
        except BaseException as error:  # noqa: BLE001 - shown below
            errors.append(error)

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(len(counts))]
    for thread in threads:
        thread.start()
    try:
        for replica in running.replicas:
            time.sleep(0.5)
            replica.stop()
            replica.start()
        time.sleep(1)
    finally:
        done.set()
        for thread in threads:
            thread.join()

    assert not errors
    assert min(counts)


def test_a_server_goes_on_while_the_registry_is_away(running: Fleet) -> None:
    running.registry.kill()
    try:
        time.sleep(3 * REFRESH_S)
        client = EarlierClient(running.url)
        assert "Do 1" in client.load("skill-1")
        client.close()
    finally:
        running.registry.start()


@pytest.mark.row("N11", "U18")
def test_each_load_counts_once_though_it_was_sent_to_every_server(
    running: Fleet,
) -> None:
    """A client that got no answer sends the same call again."""
    clients = [kind(running.url) for kind in CLIENTS]
    before = counted(running)
    for number in range(10):
        for client in clients:
            for _ in range(4):
                client.load("skill-9", f"{type(client).__name__}-{number}")
    for client in clients:
        client.load("skill-9")
        client.close()

    expected = before["skill-9"] + 10 * len(clients) + len(clients)
    waited(lambda: counted(running)["skill-9"] >= expected)
    assert counted(running)["skill-9"] == expected


def test_loads_go_on_while_the_database_is_away(running: Fleet) -> None:
    """And are counted once it is back."""
    client = EarlierClient(running.url)
    before = counted(running)["skill-11"]
    running.database.kill()
    try:
        for _ in range(12):
            assert "Do 11" in client.load("skill-11")
        client.close()
    finally:
        running.database.start()

    waited(lambda: counted(running)["skill-11"] == before + 12)


def test_everything_may_be_killed() -> None:
    """For longer: ``python -m tests.fleet kills``."""
    if shutil.which("haproxy", path=f"{os.environ['PATH']}:/usr/sbin") is None:
        pytest.skip("a fleet needs haproxy; to run this: make fleet")
    assert kill_for(8.0) == 0


def test_the_log_has_no_traceback_and_no_password(running: Fleet) -> None:
    for replica in running.replicas:
        assert "Traceback" not in replica.log()
        assert PASSWORD not in replica.log()
