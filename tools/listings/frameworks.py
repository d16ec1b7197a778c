"""Frameworks: the text that each puts before a model, asked in its own environment."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tools.listings.clients import Seen
from tools.loaders.clients import reading
from tools.loaders.clients.inside import PROGRAMS
from tools.loaders.driver import UnavailableError
from tools.loaders.drivers.peers import PeerDriver
from tools.loaders.registered import DRIVERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tools.listings.clients import Rows
    from tools.listings.libraries import Library

TIMEOUT_S: Final = 120
_TRIES: Final = 12
_CREWAI: Final = re.compile(r'<skill name="(.*?)">\n(.*?)\n</skill>', re.DOTALL)
_ANNOTATED: Final = re.compile(r" \((?:License|Compatibility): .*\)(?=$|\n)", re.DOTALL)
_NAME: Final = re.compile(r"^name: *(.*)$", re.MULTILINE)
_SKILL: Final = re.compile(
    r"<skill>\s*<name>(.*?)</name>\s*<description>(.*?)</description>", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class FrameworkLister:
    """One framework; it has no window: the application decides what it sends."""

    key: str
    read: Callable[[str, Library], Rows]
    windows: tuple[int, ...] = (200_000,)
    names: str = "name"
    is_slow: bool = True

    def prepare(self) -> str:
        """Make its environment where there is none, and return the version.

        Raises:
            UnavailableError: It cannot be made.
        """
        return DRIVERS[self.key].prepare()

    def remove(self) -> None:
        """Throw its environment away, so that the next one has what is newest then."""
        self._driver.remove()

    def look(self, libraries: Sequence[Library]) -> Iterator[tuple[Library, Seen]]:
        """Yield what it shows of each library.

        Raises:
            UnavailableError: It cannot be run.
        """
        for library in libraries:
            with tempfile.TemporaryDirectory(prefix="listings-") as home:
                library.write(Path(home, "packs"))
                text = self._ask(home)
                yield library, Seen(self.windows[0], self.read(text, library), text)

    @property
    def _driver(self) -> PeerDriver:
        driver = DRIVERS[self.key]
        if not isinstance(driver, PeerDriver):
            raise UnavailableError(f"{self.key} is no framework")
        return driver

    def _ask(self, home: str) -> str:
        """Return the text; nothing where the framework refuses the library."""
        answer = self._answer(home)
        for _ in range(_TRIES):
            # What it imports in threads may lock itself: that is no answer.
            if "DeadlockError" not in str(answer.get("error")):
                break
            answer = self._answer(home)
        return str(answer.get("found") or "")

    def _answer(self, home: str) -> dict[str, Any]:
        driver = self._driver
        program = (str(PROGRAMS / "forking.py"), "ask_prompts")
        environ = {k: v for k, v in os.environ.items() if k != "VIRTUAL_ENV"}
        done = subprocess.run(
            [str(driver.folder / "bin" / "python"), *program],
            input=json.dumps(f"{driver.peer.name}\t{home}/packs") + "\n",
            cwd=home,
            env={**environ, "HOME": home},
            capture_output=True,
            encoding="utf-8",
            timeout=TIMEOUT_S,
            check=False,
        )
        if not done.stdout:
            raise UnavailableError(done.stderr[-300:])
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer


def _xml(text: str, library: Library) -> Rows:
    del library
    return tuple((name, shown or "") for name, shown in reading.xml(text))


def _plain_xml(text: str, library: Library) -> Rows:
    del library
    return tuple((name.strip(), shown.strip()) for name, shown in _SKILL.findall(text))


def _crewai(text: str, library: Library) -> Rows:
    del library
    return tuple((name, shown.strip()) for name, shown in _CREWAI.findall(text))


def _names(library: Library) -> list[str]:
    """Return what may be a name: an item of a list begins only with one."""
    declared = (
        re.search(r"^name: *(.*)$", pack.text, re.MULTILINE) for pack in library.packs
    )
    said = {match[1].strip(" \"'\r") for match in declared if match}
    return [*said, *(pack.folder for pack in library.packs)]


def _bullets(text: str, library: Library) -> Rows:
    pairs = reading.bullets(text, filter(None, _names(library)))
    return tuple((name, shown or "") for name, shown in pairs)


def _deepagents(text: str, library: Library) -> Rows:
    plain = re.sub(r"^- \*\*(.*?)\*\*: ", r"- \1: ", text, flags=re.MULTILINE)
    return tuple(
        (name, _ANNOTATED.sub("", shown.partition("\n  -> ")[0]))
        for name, shown in _bullets(plain, library)
    )


def _openai(text: str, library: Library) -> Rows:
    inside = text.partition("### Available skills\n")[2].partition("\n### ")[0]
    return tuple(
        (name, shown.rpartition(" (file: ")[0])
        for name, shown in _bullets(inside, library)
    )


FRAMEWORKS: Final[dict[str, FrameworkLister]] = {
    lister.key: lister
    for lister in (
        FrameworkLister("agent-framework", _xml),
        FrameworkLister("agentscope", _plain_xml),
        FrameworkLister("agentskills", _xml),
        FrameworkLister("agno", _plain_xml),
        FrameworkLister("crewai", _crewai),
        FrameworkLister("deepagents", _deepagents),
        FrameworkLister("fastmcp", _bullets),
        FrameworkLister("google-adk", _xml),
        FrameworkLister("haystack", _bullets),
        FrameworkLister("openai-agents", _openai),
        FrameworkLister("openhands", _xml),
        FrameworkLister("pydantic-ai-harness", _bullets),
        FrameworkLister("skills-ref", _xml),
        FrameworkLister("strands", _xml),
    )
}
