"""From the options of ``satchel serve`` to a server that runs, and what it says."""

import gc
import os
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import closing, contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypedDict

from satchel.cli.keeping import kept
from satchel.cli.opening import opened_as_named, warn_empty
from satchel.cli.output import tell
from satchel.errors import ConfigError, ExtraMissingError

if TYPE_CHECKING:
    from satchel.model import Finding, Style
    from satchel.protocols import UsageSink
    from satchel.serve.app import Application
    from satchel.serve.guard import GuardSettings, OAuthSettings
    from satchel.serve.http.figures import Used
    from satchel.serve.library import Library
    from satchel.usage.metrics import MetricsSink

__all__ = ["Options", "guard_settings", "measure", "serve"]

SWITCH_S: Final = 0.0005
"""How long one thread may keep the others waiting: a tenth of what Python has."""

FAR_S: Final = 2.0
"""Seconds for which sources elsewhere are waited for, before those of this machine are
served without them."""

MOST: Final = 5
"""Reasons, and skills that are withheld, that are told one by one."""


class Options(TypedDict):
    """What click gives for each option and argument."""

    paths: tuple[str, ...]
    more: tuple[str, ...]
    pin: str | None
    host: str
    port: int
    stdio: bool
    style: "Style"
    budget: int | str | None
    name: str
    refresh: float
    strict: bool
    allow_empty: bool
    compat: bool
    v1_index: bool
    token_file: str | None
    tokens: str | None
    oauth_issuer: str | None
    oauth_resource: str | None
    oauth_jwks: str | None
    oauth_scopes: tuple[str, ...]
    oauth_only_claim: str
    hosts: tuple[str, ...]
    origins: tuple[str, ...]


_NEEDED: Final = ("mcp", "prometheus_client", "starlette", "uvicorn")


def serve(options: Options) -> int:
    """Serve until told to stop; return the exit status.

    Raises:
        ExtraMissingError: The extra ``serve`` is not installed.
        ConfigError: An option, a variable or a file of tokens cannot be used.
        SkillError: As for `satchel.cli.opening.opened`.
    """
    if any(find_spec(module) is None for module in _NEEDED):
        raise ExtraMissingError("satchel serve", "serve")
    guarding = guard_settings(options)  # what is wrong in it is told at once
    from satchel.serve.library import Library
    from satchel.serve.refreshing import Refresher
    from satchel.serve.settings import ServeSettings
    from satchel.usage.metrics import MetricsSink

    metrics = MetricsSink()
    settings = ServeSettings(
        name=options["name"],
        style=options["style"],
        compat=options["compat"],
        allow_empty=options["allow_empty"],
    )
    with (
        _tuned() as settle,
        _closed(kept()) as sinks,
        closing(metrics),
        opened_as_named(
            (*options["paths"], *options["more"]),
            pin=options["pin"],
            sinks=(*sinks, metrics),
            style=options["style"],
            budget_tokens=options["budget"],
            far_s=None if options["strict"] else FAR_S,
        ) as skills,
    ):
        settle()
        library = Library(skills, settings)
        measure(metrics, library)
        warn_empty(skills)
        if _tell_reasons(library) and options["strict"]:
            tell("not started, because of --strict")
            return 1
        _tell_served(library)
        with Refresher(library, every_s=options["refresh"]) as refresher:
            if options["stdio"]:
                refresher.begin()
                killed = _over_stdio(library)
            else:
                app = _application(library, options, guarding, metrics.render)
                killed = _over_http(app, options, guarding, refresher.begin)
    if killed:
        # A thread still waits for standard input, and would keep the process.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
    return 0


def measure(metrics: "MetricsSink", library: "Library") -> None:
    """Let the figures call things as they are called outside."""
    from satchel.serve.telling import labels_outside

    metrics.measure_catalog(lambda: library.skills.prompt().tokens)
    metrics.name_sources(lambda label: labels_outside(library.catalog).get(label, ""))


def guard_settings(options: Options) -> "GuardSettings":
    """Return who may come in by the options and by ``SATCHEL_TOKEN``.

    Raises:
        ConfigError: One of them cannot be used; or the address is not loopback, and
            nobody is asked who calls.
        MissingPathError: A file of tokens is not there.
    """
    from satchel.serve.guard import (
        GuardSettings,
        check_bind,
        open_tokens,
    )

    file, several = options["token_file"], options["tokens"]
    settings = GuardSettings(
        host=options["host"],
        tokens=open_tokens(
            token_file=Path(file) if file else None,
            tokens_file=Path(several) if several else None,
        ),
        oauth=_oauth(options),
        allowed_hosts=options["hosts"],
        allowed_origins=options["origins"],
    )
    check_bind(settings.host, settings)
    return settings


def _oauth(options: Options) -> "OAuthSettings | None":
    from satchel.serve.guard import OAuthSettings

    issuer = options["oauth_issuer"] or ""
    resource = options["oauth_resource"] or ""
    jwks = options["oauth_jwks"] or ""
    if not (issuer or resource or jwks):
        return None
    given = {"issuer": issuer, "resource": resource, "jwks": jwks}
    missing = [f"--oauth-{name}" for name, value in given.items() if not value]
    if missing:
        raise ConfigError("OAuth", f"give {', '.join(missing)}, too")
    settings = OAuthSettings(
        issuer=issuer,
        resource=resource,
        jwks_url=jwks,
        only_claim=options["oauth_only_claim"],
    )
    scopes = options["oauth_scopes"]
    return replace(settings, scopes=scopes) if scopes else settings


@contextmanager
def _tuned() -> Generator[Callable[[], None]]:
    """Let the interpreter suit a server, and leave it as it was.

    Nothing is collected until what is yielded is called, once the skills are there:
    they stay, and each collection would walk through all of them.
    """
    interval_s = sys.getswitchinterval()

    def settle() -> None:
        gc.freeze()
        gc.enable()
        # Events are written by threads, for which no request should have to wait long.
        sys.setswitchinterval(SWITCH_S)

    gc.disable()
    try:
        yield settle
    finally:
        gc.enable()
        gc.unfreeze()
        sys.setswitchinterval(interval_s)


@contextmanager
def _closed(sinks: "tuple[UsageSink, ...]") -> Generator["tuple[UsageSink, ...]"]:
    """Close the sinks at the end, so that every event is kept."""
    from satchel.usage import Sinks

    try:
        yield sinks
    finally:
        Sinks(sinks).close()


def _over_stdio(library: "Library") -> bool:
    from satchel.serve.running import serve_stdio

    tell("MCP over standard input and output, until the client goes")
    return serve_stdio(library)


def _application(
    library: "Library", options: Options, guarding: "GuardSettings", used: "Used"
) -> "Application":
    from satchel.serve.app import guarded_app

    return guarded_app(library, guarding, old_index=options["v1_index"], used=used)


def _over_http(
    app: "Application",
    options: Options,
    guarding: "GuardSettings",
    begin: Callable[[], object],
) -> bool:
    from satchel.serve.running import listen, serve_http

    def started() -> None:
        _tell_where(options, guarding, url)
        begin()

    with listen(guarding.host, options["port"]) as at:
        url = _url(guarding.host, at.getsockname()[1])
        serve_http(app, at, guarding, started=started)
    tell("stopped")
    return False


def _url(host: str, port: int) -> str:
    """Return where a program on this machine finds the server."""
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def _tell_reasons(library: "Library") -> bool:
    """Say what is wrong with what is served; tell whether anything is."""
    from satchel.serve.http.readiness import readiness

    found = readiness(library)
    for what, wrong in (("not ready", found.against), ("degraded", found.degraded)):
        if wrong:
            tell(f"{what}, and /readyz says so:")
            _tell_some(each.detail for each in wrong)
    return bool(found.every)


def _tell_served(library: "Library") -> None:
    from satchel.release.discovery import plan_publication
    from satchel.serve.mcp import withheld_from_mcp

    catalog = library.catalog
    release = f", release {catalog.release}" if catalog.release else ""
    sources = ", ".join(state.label for state in catalog.sources)
    tell(f"serving {_count(len(catalog), 'skill')} from {sources}{release}")
    if catalog.withheld:
        count = _count(len(catalog.withheld), "pack")
        tell(f"{count} not listed: see satchel list")
    plan = plan_publication(catalog.entries, limits=library.skills.limits)
    for what, findings in (
        ("MCP's skills extension", withheld_from_mcp(library)),
        ("the discovery index", plan.findings),
    ):
        if findings:
            tell(f"{_count(len(findings), 'skill')} not in {what}:")
            _tell_some(_short(each) for each in findings)


def _short(finding: "Finding") -> str:
    where = f"{finding.path}: " if finding.path else ""
    return f"{where}{finding.message}"


def _tell_some(lines: Iterable[str]) -> None:
    every = list(lines)
    for line in every[:MOST]:
        tell(f"  {line}")
    if len(every) > MOST:
        tell(f"  and {len(every) - MOST:,} more")


def _tell_where(options: Options, guarding: "GuardSettings", url: str) -> None:
    from satchel.serve.connect import CLIENTS

    for what, path in (
        ("MCP", "/mcp"),
        ("API", "/v1/catalog, described in /v1/openapi.json"),
        ("discovery", "/.well-known/agent-skills/index.json"),
        ("health", "/readyz, /healthz, /metrics"),
    ):
        tell(f"  {what:<11}{url}{path}")
    if guarding.asks:
        tell("callers need a token: Authorization: Bearer ...")
    tell("add it to a client:")
    token = " --token-env SATCHEL_TOKEN" if guarding.asks else ""
    for client in CLIENTS.values():
        line = client.command.format(name=options["name"], url=f"{url}/mcp")
        if token or not line:
            line = f"satchel connect {client.id} --url {url}/mcp{token} --write"
        tell(f"  {client.name:<13}{line}")
    tell("stop with Ctrl-C")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
