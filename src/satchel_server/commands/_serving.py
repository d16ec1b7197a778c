"""From the options of ``satchel serve`` to a server that runs, and its messages."""

import gc
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import click
from click.core import ParameterSource

from satchel.cli import (
    command_sinks,
    echo_always,
    echo_error,
    echo_problem,
    is_quiet,
    line_about,
    open_named_skills,
    print_findings,
)
from satchel.errors import ConfigError, ExtraMissingError, NoSkillsError
from satchel.text import first_names, plural

if TYPE_CHECKING:
    from socket import socket

    from satchel.model import SyncReport
    from satchel.protocols import Runner
    from satchel.runtime import Satchel
    from satchel_server import GuardSettings, OAuthSettings, ServedLibrary
    from satchel_server.usage import MetricsSink


# Lines that may wait to be printed, and names of skills on one.
MAX_LINES: Final = 1_000
MAX_NAMES: Final = 5
# Seconds for the last lines, once the server has ended.
CLOSE_S: Final = 1.0
# Seconds in which lines come together, so that they are printed in one go.
PAUSE_S: Final = 0.05

_LOGGER: Final = logging.getLogger("satchel")


class ServerLog(logging.Handler):
    """Prints lines, and what Satchel logs, in a thread; each with the time of day.

    A terminal may be paused, and a pipe may be full. The server goes on answering: the
    lines that find no room are counted, and the count is printed once there is room.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._lines: SimpleQueue[str | None] = SimpleQueue()
        self._dropped = 0
        self._thread = threading.Thread(
            target=self._print, name="satchel-log", daemon=True
        )
        self._thread.start()
        _LOGGER.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Print what was logged, such as why a pack is listed no more."""
        self.add(self.format(record))

    def add(self, text: str) -> None:
        """Print a line soon; never wait."""
        if self._lines.qsize() < MAX_LINES:
            self._lines.put(f"{time.strftime('%H:%M:%S')} {text}")
        else:
            self._dropped += 1

    def stop(self) -> bool:
        """Print what waits; return whether there was somebody to read it."""
        _LOGGER.removeHandler(self)
        self._lines.put(None)
        self._thread.join(CLOSE_S)
        return not self._thread.is_alive()

    def _print(self) -> None:
        line: str | None = ""
        while line is not None and (line := self._lines.get()) is not None:
            # To wake this thread for each line would cost more than most answers do.
            time.sleep(PAUSE_S)
            lines = [line]
            while not self._lines.empty() and (line := self._lines.get()) is not None:
                lines.append(line)
            # The reader may be gone for good, which ends no server.
            with suppress(OSError, ValueError):
                echo_always(*lines)
                if self._dropped and self._lines.empty():
                    dropped, self._dropped = self._dropped, 0
                    echo_always(f"{plural(dropped, 'line')} left out: nobody read them")


def log_changes(library: "ServedLibrary", log: ServerLog) -> None:
    """Add a line for each change of the library."""

    def changed(report: "SyncReport") -> None:
        changes = report.added, report.updated, report.removed
        words = zip(("added", "changed", "removed"), changes, strict=True)
        parts = [f"{word} {first_names(ids, MAX_NAMES)}" for word, ids in words if ids]
        what = "; ".join(parts) or "packs that are not listed changed"
        log.add(f"{what}: {plural(report.total, 'skill')} now")

    library.listen(changed)


# How long one thread may block the others: a tenth of Python's default.
SWITCH_S: Final = 0.0005

# Seconds to wait for remote sources before the local ones are served without them.
REMOTE_S: Final = 2.0

# The variable that signs sessions of the page on every replica.
SESSION_KEY: Final = "SATCHEL_SESSION_KEY"

# Reasons, and skills that are excluded, that are printed one by one.
MOST: Final = 5


# The options and arguments of the command, by the names of its parameters.
ServeOptions: TypeAlias = dict[str, Any]

# The parameters that are for HTTP alone, but for those of OAuth.
_OF_HTTP: Final = frozenset(
    [
        *("host", "port", "ui", "v1_index", "access_log", "token_file", "tokens"),
        *("rate", "limits", "hosts", "origins"),
    ]
)
# The runners by the words of ``--runner``; their product is imported when one is asked.
_RUNNERS: Final = {"sandbox": "Sandbox", "subprocess": "Subprocess"}
_NEEDED: Final = ("jinja2", "mcp", "nh3", "prometheus_client", "starlette", "uvicorn")


def serve(options: ServeOptions) -> int:
    """Serve until somebody stops it; return the exit status."""
    if any(find_spec(module) is None for module in _NEEDED):
        raise ExtraMissingError("satchel serve", "serve")
    # Options first: reading the skills may take long, and a wrong option needs none.
    if options["stdio"]:
        _refuse_of_http()
    guarding = guard_settings(options)
    runner = script_runner(options, guarding)
    from satchel.usage import Sinks, UsageState
    from satchel_server import ServedLibrary, ServerSettings, listen
    from satchel_server.usage import MetricsSink

    # The port first, too: clients that ask while the skills are read have to wait.
    door = nullcontext() if options["stdio"] else listen(guarding.host, options["port"])
    metrics = MetricsSink()
    settings = ServerSettings(
        name=options["name"],
        style=options["style"],
        compat=options["compat"],
        allow_empty=options["allow_empty"],
        work=str(Path(options["work"] or "").absolute()) if runner else "",
        scripts=options["scripts"],
    )
    with (
        door as at,
        _short_thread_switches() as settle,
        closing(Sinks(sinks := command_sinks())),
        closing(metrics),
        open_named_skills(
            options["paths"],
            pin=options["pin"],
            sinks=(*sinks, metrics),
            style=options["style"],
            budget_tokens=options["budget"],
            # --strict judges the whole library, so it waits for remote sources as well.
            far_s=None if options["strict"] else REMOTE_S,
            runner=runner,
        ) as skills,
    ):
        settle()
        if (most_s := options["max_age"]) is not None:
            _limit_age(skills, most_s)
        library = ServedLibrary(skills, settings)
        measure(metrics, library)
        print_findings(skills, {NoSkillsError.code})
        if _print_reasons(library) and options["strict"]:
            echo_problem("not started, because of --strict")
            return 1
        # Every message is on standard error: with --stdio standard output belongs to
        # MCP.
        _print_served(library)
        if runner is not None:
            kind = getattr(runner, "kind", "")
            echo_error(f"scripts run in {settings.work}: {kind}")
        waits = _run(library, options, guarding, at, metrics)
    # The sinks are closed by now.
    if lost := sum(getattr(sink, "state", UsageState()).lost for sink in sinks):
        what = f"{plural(lost, 'event')} of use could not be written, and are lost"
        echo_error(f"{what}; SATCHEL_USAGE_SPOOL=FOLDER keeps them for the next start")
    if waits:
        # A thread still waits for standard input, or for a reader of standard error,
        # and would keep the process.
        sys.stdout.flush()
        os._exit(0)
    return 0


def _limit_age(skills: "Satchel", most_s: float) -> None:
    limits = [getattr(s, "limit_age", None) for s in skills.registry.sources.values()]
    if not any(limits):
        raise ConfigError("--max-age", "it is for oci:// addresses, and there is none")
    for limit in filter(None, limits):
        limit(most_s)


def _run(
    library: "ServedLibrary",
    options: ServeOptions,
    guarding: "GuardSettings",
    at: "socket | None",
    metrics: "MetricsSink",
) -> bool:
    """Serve until the end; return whether a thread still waits for somebody."""
    from satchel.usage import VARIABLE
    from satchel_server import LibraryRefresher, guarded_app, serve_http, serve_stdio

    log = None if is_quiet() else ServerLog()
    if log is not None:
        log_changes(library, log)
    killed = False
    with LibraryRefresher(library, every_s=options["refresh"]) as refresher:
        if at is None:
            refresher.begin()
            echo_error(
                "MCP over standard input and output, until the client disconnects"
            )
            killed = serve_stdio(library)
        else:
            answered = log.add if log is not None and options["access_log"] else None
            place = os.environ.get(VARIABLE, "").strip() or "sqlite:"
            app = guarded_app(
                library,
                guarding,
                old_index=options["v1_index"],
                used=metrics.render,
                usage="" if place.lower().rstrip(":") in ("off", "log") else place,
                answered=answered,
            )
            url = _url(guarding.host, at.getsockname()[1])

            def started() -> None:
                _print_address(options, guarding, url)
                refresher.begin()

            serve_http(app, at, guarding, started=started)
    library.running.close()
    stuck = log is not None and not log.stop()
    if not (at is None or stuck):
        echo_error("stopped")
    return killed or stuck


def measure(metrics: "MetricsSink", library: "ServedLibrary") -> None:
    """Let the metrics use the public names of sources."""
    from satchel_server import public_labels

    metrics.measure_catalog(lambda: library.skills.prompt().tokens)
    metrics.name_sources(lambda label: public_labels(library.catalog).get(label, ""))


def guard_settings(options: ServeOptions) -> "GuardSettings":
    """Return who may call, by the options and by ``SATCHEL_TOKEN``."""
    from satchel_server import GuardSettings, check_bind, open_tokens

    settings = GuardSettings(
        host=options["host"],
        tokens=open_tokens(
            token_file=options["token_file"], tokens_file=options["tokens"]
        ),
        oauth=_oauth(options),
        allowed_hosts=options["hosts"],
        allowed_origins=options["origins"],
        page=options["ui"],
        session_key=os.environ.get(SESSION_KEY, "").encode(),
        **{"rate_per_s": options["rate"], "burst": 5 * options["rate"]}
        | _limits(options["limits"]),
    )
    check_bind(settings.host, settings)
    return settings


def _refuse_of_http() -> None:
    """Refuse each typed option that --stdio has no use for.

    What a token may not load, for one, would be served all the same.
    """
    context = click.get_current_context()
    for option in context.command.params:
        name = option.name or ""
        is_typed = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if is_typed and (name in _OF_HTTP or name.startswith("oauth_")):
            detail = "it is for HTTP: with --stdio the one client gets every skill"
            is_off = context.params[name] is False
            names = option.secondary_opts if is_off else option.opts
            raise ConfigError(names[0], detail)


def _limits(texts: tuple[str, ...]) -> dict[str, Any]:
    """Return the limits of ``--limit``, by their names."""
    from satchel_server import GuardSettings

    kinds = {int, float}
    numbers = {one.name: one.type for one in fields(GuardSettings) if one.type in kinds}
    limits: dict[str, Any] = {}
    for text in texts:
        name, _, number = text.partition("=")
        if name not in numbers:
            detail = f"no such limit; there are {', '.join(sorted(numbers))}"
            raise ConfigError(f"--limit {text}", detail)
        try:
            limits[name] = numbers[name](number)
        except ValueError:
            kind = "a whole number" if numbers[name] is int else "a number"
            raise ConfigError(f"--limit {text}", f"expected {kind}") from None
    return limits


def script_runner(options: ServeOptions, guarding: "GuardSettings") -> "Runner | None":
    """Return what runs scripts, by the options; None where none are run.

    Raises:
        ConfigError: The options do not say who may run which scripts, or where.
        ProductMissingError: ``satchel_scripts`` is not installed.
    """
    kind, work, scripts = options["runner"], options["work"], options["scripts"]
    if kind is None:
        given = {"--work": work, "--scripts": scripts, "--python": options["python"]}
        for name in filter(given.get, given):
            detail = "give --runner, too: without it no script runs"
            raise ConfigError(name, detail)
        return None
    tokens, stdio = guarding.tokens, options["stdio"]
    for wrong, detail in (
        (not work, "give --work FOLDER, too: scripts work in it"),
        (stdio and not scripts, "give --scripts PATTERN, too: whose scripts may run"),
        (not stdio and scripts, "--scripts is for --stdio; a token has its own"),
        (
            not stdio and kind == "subprocess",
            "it would let callers reach one another's files; take sandbox, or --stdio",
        ),
        (
            not stdio and not (tokens and tokens.name_scripts),
            'no token may run scripts; in the file of --tokens, write scripts = ["ID"]',
        ),
    ):
        if wrong:
            raise ConfigError(f"--runner {kind}", detail)
    from satchel.products import import_product

    product = import_product("satchel_scripts", "--runner")
    try:
        runner: Any = getattr(product, _RUNNERS[kind])(python=options["python"])
        Path(work or "").mkdir(0o700, parents=True, exist_ok=True)
    except ValueError as error:
        raise ConfigError("--python", str(error)) from error
    except OSError as error:
        detail = error.strerror or type(error).__name__
        raise ConfigError(f"--work {work}", detail) from error
    if reason := getattr(runner, "reason", ""):
        raise ConfigError(f"--runner {kind}", reason)
    return cast("Runner", runner)


def _oauth(options: ServeOptions) -> "OAuthSettings | None":
    from satchel_server import OAuthSettings

    names = "issuer", "resource", "jwks"
    missing = [f"--oauth-{name}" for name in names if not options[f"oauth_{name}"]]
    if len(missing) == len(names):
        return None
    if missing:
        raise ConfigError("OAuth", f"give {', '.join(missing)}, too")
    return OAuthSettings(
        issuer=options["oauth_issuer"],
        resource=options["oauth_resource"],
        scopes=options["oauth_scopes"],
        jwks_url=options["oauth_jwks"],
        only_claim=options["oauth_only_claim"],
    )


@contextmanager
def _short_thread_switches() -> Generator[Callable[[], None]]:
    """Tune the interpreter for a server, and restore it at the end.

    There is no garbage collection until the yielded function is called, after the
    skills were read: they stay, and each collection would walk through all of them.
    """
    interval_s = sys.getswitchinterval()

    def settle() -> None:
        gc.freeze()
        gc.enable()
        # Threads write events; no request should wait long for one of them.
        sys.setswitchinterval(SWITCH_S)

    gc.disable()
    try:
        yield settle
    finally:
        gc.enable()
        gc.unfreeze()
        sys.setswitchinterval(interval_s)


def _url(host: str, port: int) -> str:
    """Return the URL of the server for a program on this machine."""
    # An address to listen on everywhere is no address to connect to.
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def _print_reasons(library: "ServedLibrary") -> bool:
    """Print what is wrong with the library; return whether anything is."""
    from satchel_server import readiness

    state = readiness(library)
    reasons = {"not ready": state.not_ready, "degraded": state.degraded}
    for what, wrong in reasons.items():
        if wrong:
            echo_error(f"{what}, and /readyz says so:")
            _print_some(finding.detail for finding in wrong)
    return any(reasons.values())


def _print_served(library: "ServedLibrary") -> None:
    from satchel_server import excluded_from_mcp
    from satchel_store.release import plan_publication

    catalog = library.catalog
    release = f", release {catalog.release}" if catalog.release else ""
    sources = ", ".join(state.label for state in catalog.sources)
    echo_error(f"serving {plural(len(catalog), 'skill')} from {sources}{release}")
    if catalog.excluded:
        count = plural(len(catalog.excluded), "pack")
        echo_error(f"{count} not listed: see {line_about('list')}")
    plan = plan_publication(catalog.entries, limits=library.skills.limits)
    for what, findings in (
        ("MCP's skills extension", excluded_from_mcp(library)),
        ("the discovery index", plan.findings),
    ):
        if findings:
            echo_error(f"{plural(len(findings), 'skill')} not in {what}:")
            _print_some(
                f"{f.path}: {f.message}" if f.path else f.message for f in findings
            )


def _print_some(lines: Iterable[str]) -> None:
    every = list(lines)
    for line in every[:MOST]:
        echo_error(f"  {line}")
    if len(every) > MOST:
        echo_error(f"  and {len(every) - MOST:,} more")


def _print_address(options: ServeOptions, guarding: "GuardSettings", url: str) -> None:
    from satchel_server._guard._page_sessions import PAGE_PATH
    from satchel_server.commands._connect._clients import MCP_CLIENTS

    page = (("page", PAGE_PATH),) if guarding.page else ()
    for what, path in (
        *page,
        ("MCP", "/mcp"),
        ("API", "/v1/catalog, described in /v1/openapi.json"),
        ("discovery", "/.well-known/agent-skills/index.json"),
        ("health", "/readyz, /healthz, /metrics"),
    ):
        echo_error(f"  {what:<11}{url}{path}")
    if guarding.asks:
        echo_error("callers need a token: Authorization: Bearer ...")
    echo_error("add it to a client:")
    token = " --token-env SATCHEL_TOKEN" if guarding.asks else ""
    for client in MCP_CLIENTS.values():
        line = client.command.format(name=options["name"], url=f"{url}/mcp")
        if token or not line:
            line = f"satchel connect {client.id} --url {url}/mcp{token} --write"
        echo_error(f"  {client.name:<13}{line}")
    echo_error("stop with Ctrl-C")
