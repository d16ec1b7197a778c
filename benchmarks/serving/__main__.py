"""Measure serving, and print Markdown: ``python -m benchmarks.serving [what ...]``."""

from __future__ import annotations

import argparse
import platform
import sys
import tempfile
import time
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final, get_args

from benchmarks.measure import BAR_HEAD, Bar, Spread, in_turn, ratio, table
from benchmarks.serving.client import Kind, Wish, rate, wish
from benchmarks.serving.servers import bare, fastmcp, ours, running

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.serving.servers import Server

CLIENTS: Final = (1, 16, 64)
SKILLS: Final = 1_000
STARTING_SKILLS: Final = 10_000
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
LISTS: Final = ("skills/list", "GET /v1/catalog")
# Bars of issue and docs: what a bare server of the package or of Starlette gives.
BARS: Final[dict[Kind, float]] = {
    "resources/read": 1.0,
    "load_skill": 1.0,
    "skills/list": 0.8,
    "GET /v1/skills": 0.5,
    "GET /v1/catalog": 0.6,
}
WHAT: Final = ("rates", "memory", "startup")
_MIB: Final = 1024 * 1024


def main() -> None:
    """Measure what was asked for, then print every bar."""
    parser = argparse.ArgumentParser(prog="benchmarks.serving", description=__doc__)
    parser.add_argument("what", nargs="*", choices=("all", *WHAT), default="all")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=1_920, help="of each figure")
    parser.add_argument("--fastmcp", help="a Python that has FastMCP; else without it")
    parser.add_argument(
        "--quiet", action="store_true", help="also a server without log and events"
    )
    options = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    asked = {options.what} if isinstance(options.what, str) else set(options.what)
    print(
        f"Python {platform.python_version()}, mcp {version('mcp')}, "
        f"uvicorn {version('uvicorn')}, {platform.system()}; client and server on the "
        f"same machine. {options.rounds} rounds: median (least to greatest); ratios "
        "are taken round by round.\n"
    )
    bars: list[Bar] = []
    if asked & {"all", "rates"}:
        given = options.rounds, options.requests, options.fastmcp
        bars += rates(*given, quiet=options.quiet)
    if asked & {"all", "memory"}:
        bars += memory()
    if asked & {"all", "startup"}:
        bars += startup(options.rounds)
    print("## Bars\n")
    print(table(BAR_HEAD, (bar.row() for bar in bars)))


def rates(
    rounds: int, requests: int, peer: str | None, *, quiet: bool = False
) -> list[Bar]:
    """Compare answers a second of a server's processor time, each warm, in turns."""
    bars: list[Bar] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(_library(SKILLS)))
        commands = {"satchel": ours(folder), "bare": bare(folder)}
        if quiet:  # neither lines for requests nor events
            commands["without log and events"] = ours(folder, "--no-access-log")
        if peer:
            commands["FastMCP"] = fastmcp(peer, folder)
        first = _wishes("resources/read", 1)[0]
        servers: dict[str, Server] = {}
        for name, command in commands.items():
            home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            usage = {"SATCHEL_USAGE": "off"} if name.startswith("without") else {}
            # From the second start on the rows of the index are what is served.
            with running(command, first, home, usage):
                pass
            server = running(command, first, home, usage)
            servers[name] = stack.enter_context(server)
        for kind in KINDS:
            wishes = _wishes(kind, SKILLS)
            able = [n for n in servers if n != "FastMCP" or kind == "resources/read"]
            for name in able:  # warm: each skill once
                rate(servers[name].port, wishes, 1, 20 if peer else len(wishes))
            for clients in CLIENTS:
                figures = in_turn(
                    {
                        name: _loaded(
                            servers[name],
                            wishes,
                            clients,
                            # It looks at every folder for each answer.
                            max(clients, requests // 20)
                            if name == "FastMCP"
                            else requests,
                        )
                        for name in able
                    },
                    rounds,
                )
                own, floor = figures["satchel"], figures["bare"]
                peer_name = "bare Starlette" if "GET" in kind else "bare mcp"
                print(f"## {kind}, {clients} clients, {SKILLS:,} packs\n")
                rows = [
                    (name, f"{Spread.of(each):,.0f}", f"{ratio(each, floor):.2f}")
                    for name, each in figures.items()
                ]
                head = "", "answers a second of its processor", f"over {peer_name}"
                print(table(head, rows))
                name = f"{kind}, {clients} clients, over {peer_name}"
                bars.append(Bar(name, BARS[kind], ratio(own, floor), at_least=True))
                if "FastMCP" in figures:
                    name = f"{kind}, {clients} clients, over FastMCP"
                    against = ratio(own, figures["FastMCP"])
                    bars.append(Bar(name, 1.0, against, at_least=True))
    return bars


def memory() -> list[Bar]:
    """Compare resident memory after 10,000 and after 100,000 requests."""
    with (
        _library(SKILLS) as folder,
        tempfile.TemporaryDirectory() as home,
        running(
            ours(Path(folder)), _wishes("resources/read", 1)[0], Path(home)
        ) as server,
    ):
        wishes = _wishes("resources/read", SKILLS) + _wishes("load_skill", SKILLS)
        rate(server.port, wishes, 16, 10_000)
        before = server.resident_bytes
        rate(server.port, wishes, 16, 90_000)
        after = server.resident_bytes
    print("## Resident memory\n")
    rows = [
        ("after 10,000 requests", f"{before / _MIB:.1f}"),
        ("after 100,000 requests", f"{after / _MIB:.1f}"),
    ]
    print(table(("", "MiB"), rows))
    grown = (after - before) / 1_000_000
    return [Bar("MB more after 90,000 further requests", 5.0, Spread.of([grown]))]


def startup(rounds: int) -> list[Bar]:
    """Compare start-up with many packs to an empty server's and a discovery."""
    with _library(STARTING_SKILLS) as folder, _library(1) as almost_empty:
        figures = in_turn(
            {
                "10,000 packs": _started(Path(folder)),
                "one pack": _started(Path(almost_empty)),
                "discovery of 10,000 packs": _discovered(Path(folder)),
            },
            rounds,
        )
    print("## Start-up, to the first answer\n")
    rows = [(name, f"{Spread.of(each):.2f}") for name, each in figures.items()]
    print(table(("", "seconds"), rows))
    parts = zip(figures["one pack"], figures["discovery of 10,000 packs"], strict=True)
    allowed = [empty + discovery for empty, discovery in parts]
    over = ratio(figures["10,000 packs"], allowed)
    name = "start-up with 10,000 packs, over an empty server's and a discovery"
    return [Bar(name, 1.1, over)]


def _loaded(
    server: Server, wishes: Sequence[Wish], clients: int, requests: int
) -> Callable[[], float]:
    def load() -> float:
        before = server.processor_s
        rate(server.port, wishes, clients, requests)
        answered = requests // clients * clients
        # A clock of the system ticks a hundred times a second.
        return answered / max(server.processor_s - before, 0.01)

    return load


def _started(folder: Path) -> Callable[[], float]:
    def start() -> float:
        with tempfile.TemporaryDirectory() as home:
            first = _wishes("resources/read", 1)[0]
            with running(ours(folder), first, Path(home)) as server:
                return server.ready_s

    return start


def _discovered(folder: Path) -> Callable[[], float]:
    from satchel import Satchel

    def discover() -> float:
        start = time.perf_counter()
        Satchel(folder).close()
        return time.perf_counter() - start

    return discover


def _library(skills: int) -> tempfile.TemporaryDirectory[str]:
    folder = tempfile.TemporaryDirectory(prefix="satchel-serving-")
    for number in range(skills):
        home = Path(folder.name, _name(number))
        home.mkdir()
        text = f"---\nname: {home.name}\ndescription: Use for task {number}.\n---\n"
        lines = "".join(f"Step {n} of {home.name}: do it well.\n" for n in range(100))
        (home / "SKILL.md").write_text(text + lines + _proof(number), "utf-8")
    return folder


def _name(number: int) -> str:
    return f"skill-{number:05}"


def _proof(number: int) -> str:
    return f"proof-{number:05}"


def _wishes(kind: Kind, skills: int) -> list[Wish]:
    if kind in LISTS:
        return [wish(kind, "", _name(99))]  # the last of the shorter page
    return [wish(kind, _name(number), _proof(number)) for number in range(skills)]


if __name__ == "__main__":
    main()
