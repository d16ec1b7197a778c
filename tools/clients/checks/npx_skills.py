"""``npx skills`` installs from the server, and from static sites of two versions."""

from __future__ import annotations

import functools
import threading
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Final

from tools.clients.known import SATCHEL
from tools.clients.library import SKILLS, names, write
from tools.clients.outcome import Step

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping
    from pathlib import Path

    from tools.clients.bench import Bench, Done


FOLDERS: Final = {"claude-code": ".claude/skills", "codex": ".agents/skills"}
"""The clients to install for, and where each looks in a project."""


FILES: Final = {path: data for path, data in SKILLS.items() if "?" not in path}
"""An index of v0.1.0 names files one by one, and the client escapes no ``?``."""


def run(bench: Bench) -> Iterator[Step]:
    """List and install everything, from each place, and compare the bytes."""
    library = write(FILES, bench.folder / "skills")
    with bench.serve(library) as address:
        yield from _install(bench, "the server", address)
    for version, options in (("v0.2.0", ()), ("v0.1.0", ("--v1",))):
        site = bench.folder / f"site-{version}"
        command = [SATCHEL, "publish", site, "--skills", library, *options]
        done = bench.run(command)
        if done.status:
            yield Step(f"satchel publish, {version}", "failed", done.last)
            continue
        if version == "v0.1.0":  # else the newer index would be taken
            _only_the_old_index(site)
        with _site(site) as address:
            yield from _install(bench, f"a static site, {version}", address)


def _install(bench: Bench, place: str, address: str) -> Iterator[Step]:
    wanted = names(FILES)
    done = bench.npm("skills", "add", address, "--list")
    missing = [name for name in wanted if name not in done.out]
    yield _step(f"--list from {place}", done, missing, f"{len(wanted)} skills")
    project = bench.folder / place.replace(" ", "-")
    project.mkdir()
    (project / "package.json").write_text("{}", "utf-8")
    mine = ("--skill", "*", "--agent", *FOLDERS, "--yes", "--copy")
    done = bench.npm("skills", "add", address, *mine, inside=project)
    for agent, folder in FOLDERS.items():
        wrong = list(differences(FILES, project / folder))
        what = f"install for {agent} from {place}"
        yield _step(what, done, wrong, f"{len(FILES)} files, byte for byte")


def differences(skills: Mapping[str, bytes], folder: Path) -> Iterator[str]:
    """Yield each path that is in one of the two only, or has other bytes."""
    there = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    for path in sorted({*skills, *there}):
        if skills.get(path) != there.get(path):
            yield path


def _step(what: str, done: Done, wrong: list[str], said: str) -> Step:
    if done.status or wrong:
        return Step(what, "failed", f"status {done.status}: {wrong[:5]} {done.last}")
    return Step(what, "passed", said)


def _only_the_old_index(site: Path) -> None:
    """Take away the newer index, which a client asks for first."""
    index = site / ".well-known" / "agent-skills" / "index.json"
    index.unlink()


@contextmanager
def _site(folder: Path) -> Generator[str]:
    """Serve a folder as any web server would; yield the address."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


class _Quiet(SimpleHTTPRequestHandler):
    """Says nothing in the terminal."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Drop it."""
