"""Kill each part of a fleet at random, while clients of both eras ask.

``python -m tests.fleet kills [SECONDS]``. Each load has an id; a client that gets no
answer sends the same load again. At the end every answer was the right one, and each
load that was acknowledged is counted, once.
"""

import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Final
from uuid import uuid4

import httpx2

from tests.fleet.asking import CLIENTS
from tests.fleet.engines import MissingEngineError
from tests.fleet.running import Fleet, fleet

CLIENT_COUNT: Final = 64
SKILLS: Final = 20
PAUSE_S: Final = 0.2


@dataclass
class Outcome:
    """What clients saw: sent and acknowledged loads by skill, and wrong answers."""

    sent: Counter[str] = field(default_factory=Counter[str])
    acknowledged: Counter[str] = field(default_factory=Counter[str])
    wrong: list[str] = field(default_factory=list[str])
    retries: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


def ask_until(running: Fleet, number: int, outcome: Outcome, end: float) -> None:
    """Load skills until the end, each until it is acknowledged."""
    random_ = Random(number)
    kind = CLIENTS[number % len(CLIENTS)]
    client = None
    while time.monotonic() < end:
        which = random_.randrange(SKILLS)
        skill, call = f"skill-{which}", uuid4().hex
        with outcome.lock:
            outcome.sent[skill] += 1
        while True:
            try:
                client = client or kind(running.url)
                text = client.load(skill, call)
            except (httpx2.HTTPError, AssertionError, ValueError, KeyError) as error:
                if isinstance(error, AssertionError):
                    with outcome.lock:
                        outcome.wrong.append(f"{skill}: {error}"[:300])
                with outcome.lock:
                    outcome.retries += 1
                if time.monotonic() > end + 60:
                    return
                time.sleep(PAUSE_S)
                continue
            with outcome.lock:
                outcome.acknowledged[skill] += 1
                if f"Do {which} as of version 1" not in text:
                    outcome.wrong.append(f"{skill}: {text[:200]}")
            break
        time.sleep(random_.random() * PAUSE_S)
    if client is not None:
        client.close()


def kill_until(running: Fleet, end: float, seed: int) -> Counter[str]:
    """Kill a part at random, and start it again a moment later."""
    random_, kills = Random(seed), Counter[str]()
    while time.monotonic() < end:
        time.sleep(random_.uniform(0.5, 2.0))
        part = random_.choice(running.parts)
        part.kill()
        kills[type(part).__name__] += 1
        time.sleep(random_.uniform(0.0, 1.5))
        part.start()
    return kills


def counted(running: Fleet) -> Counter[str]:
    """Return how often each skill was loaded, by the report."""
    from satchel_server.usage import read_report

    report = read_report(running.database.url, now=time.time())
    return Counter({use.name: use.loads for use in report.skills})


def kill_for(seconds: float, seed: int = 1) -> int:
    """Run, print what happened, and return 0 if all held."""
    try:
        with fleet() as running:
            outcome, end = Outcome(), time.monotonic() + seconds
            threads = [
                threading.Thread(target=ask_until, args=(running, n, outcome, end))
                for n in range(CLIENT_COUNT)
            ]
            for thread in threads:
                thread.start()
            kills = kill_until(running, end, seed)
            for thread in threads:
                thread.join()
            for replica in running.replicas:  # each writes what waits, as it ends
                replica.stop()
                replica.start()
                httpx2.get(f"http://127.0.0.1:{replica.port}/v1/skills/skill-0")
                replica.stop()
            extra = Counter({"skill-0": len(running.replicas)})
            counts = counted(running) - extra
            logs = "".join(replica.log() for replica in running.replicas)
    except MissingEngineError as missing:
        print(f"a fleet needs {missing}")
        return 1
    sent, acknowledged = outcome.sent, outcome.acknowledged
    off = {
        skill: (acknowledged[skill], counts[skill], sent[skill])
        for skill in sent
        if not acknowledged[skill] <= counts[skill] <= sent[skill]
    }
    print(f"killed {dict(kills)}; {outcome.retries:,} loads were sent again")
    print(
        f"acknowledged {acknowledged.total():,} <= counted {counts.total():,} "
        f"<= sent {sent.total():,}; wrong answers {len(outcome.wrong)}"
    )
    for problem in outcome.wrong[:5]:
        print(f"wrong: {problem}")
    if off:
        print(f"not as acknowledged, counted and sent: {off}")
    print("tracebacks in logs:", logs.count("Traceback"))
    return 1 if off or outcome.wrong or "Traceback" in logs else 0
