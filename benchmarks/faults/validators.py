"""The validators: how each is installed, run over a library, and read."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.faults.reports import Report, kind_of, level_of
from benchmarks.peers._catalog import Peer
from benchmarks.peers._install import install
from tools.clients.environments import NODE, ensure_npm
from tools.clients.known import CACHE as CLIENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    # Folder of a pack, or a path below it, and what is said of it.
    Found = Iterable[tuple[str, Report]]

_CLAUDE: Final = CLIENTS / "claude" / "node_modules" / "@anthropic-ai" / "claude-code"
_DRIVER: Final = Path(__file__).with_name("skills_ref_driver.py")


class UnavailableError(Exception):
    """A validator cannot be had here; the text says why."""


@dataclass(frozen=True, slots=True)
class Validator:
    """One validator.

    ``command`` makes the arguments from the plugin's folder and the paths of packs or
    of their library; ``read`` reads what it printed, and raises where that is none of
    its reports. ``needs`` is what is installed; nothing for this checkout.
    """

    name: str
    command: Callable[[Path, list[Path]], list[str]]
    read: Callable[[str], Found]
    requires: tuple[str, ...] = ()
    python: str = "3.12"
    environment: str = ""
    limits_memory: bool = True

    @property
    def is_ours(self) -> bool:
        """Whether this is the checkout itself."""
        return self.name == OURS

    def prepare(self) -> str:
        """Install it where it is missing, and return its version.

        Raises:
            CannotInstall: pip failed, or there is no such Python here.
        """
        if self.requires:
            install(_peer(self.environment, self.requires, self.python))
            return self.requires[0].partition("==")[2]
        if self.is_ours:
            return metadata.version("satchel")
        ensure_npm("claude")
        text = (_CLAUDE / "package.json").read_text("utf-8")
        return str(json.loads(text)["version"])


OURS: Final = "satchel check"


def _peer(environment: str, requires: tuple[str, ...], python: str) -> Peer:
    return Peer(
        name=environment,
        title=environment,
        requires=requires,
        python_version=python,
        environment=environment,
        large_form="whole",
        forms=("whole",),
        parses_yaml=True,
    )


def _program(environment: str, program: str) -> str:
    peer = _peer(environment, ("-",), "3.12")
    return str(peer.interpreter.with_name(program))


def _json(text: str) -> Any:  # noqa: ANN401  # it is another program's output
    return json.loads(text[text.index("{") :])


def _satchel(text: str) -> Iterator[tuple[str, Report]]:
    for each in _json(text)["findings"]:
        yield each["path"], Report(each["code"], level_of(each["severity"]))


def _agentskills(text: str) -> Iterator[tuple[str, Report]]:
    for skill in _json(text)["skills"]:
        for each in skill["findings"]:
            kind = each["code"]
            if kind == "spec":
                kind = f"spec: {kind_of(each['message'])}"
            yield (
                each["file"] or skill["path"],
                Report(kind, level_of(each["severity"])),
            )


def _skills_ref(text: str) -> Iterator[tuple[str, Report]]:
    for folder, messages in _json(text).items():
        for message in messages:
            yield folder, Report(_skills_ref_kind(message), "error")


def _skills_ref_kind(message: str) -> str:
    """Return a kind without what it quotes of the file."""
    head, colon, tail = message.partition(" in frontmatter: ")
    if not colon:
        return kind_of(message)
    if head.startswith("Missing"):
        return message
    flow = "disallowed JSONesque" in tail
    return f"{head} in frontmatter{': flow style' if flow else ''}"


def _claude(text: str) -> Iterator[tuple[str, Report]]:
    said = _json(text)
    for file in said["contents"]:
        for level in ("errors", "warnings", "notes"):
            for each in file[level]:
                kind = f"{each['path']}: {kind_of(each['message'])}"
                yield file["file"], Report(kind, level_of(level[:-1]))
    for each in (said["directory"] or {"findings": ()})["findings"]:
        yield each["file"], Report(each["code"], level_of(each["severity"]))


def _skilllint(text: str) -> Iterator[tuple[str, Report]]:
    for file in _json(text)["files"]:
        for part in file["validators"]:
            for each in part["issues"]:
                yield file["path"], Report(each["code"], level_of(each["severity"]))


def _skillcheck(text: str) -> Iterator[tuple[str, Report]]:
    for file in _json(text)["results"]:
        for each in file["diagnostics"]:
            yield file["path"], Report(each["rule"], level_of(each["severity"]))


def _agnix(text: str) -> Iterator[tuple[str, Report]]:
    for each in _json(text)["diagnostics"]:
        yield each["file"], Report(each["rule"], level_of(each["level"]))


def _paths(*words: str) -> Callable[[Path, list[Path]], list[str]]:
    return lambda _root, paths: [*words, *map(str, paths)]


def _root(*words: str) -> Callable[[Path, list[Path]], list[str]]:
    return lambda root, _paths: [*words, str(root)]


def _agentskills_tools(command: str) -> Validator:
    program = _program("agentskills_tools", "agentskills")
    return Validator(
        f"agentskills {command}",
        _paths(program, command, "--format", "json"),
        _agentskills,
        (
            "agentskills-tools==0.7.0",
            "agentskills-core==0.7.0",
            "agentskills-fs==0.7.0",
        ),
        environment="agentskills_tools",
    )


VALIDATORS: Final[tuple[Validator, ...]] = (
    Validator(
        OURS,
        _paths(
            *(sys.executable, "-m", "satchel", "check", "--format", "json"),
            *("--fail-on", "never", "--config", "none"),
        ),
        _satchel,
    ),
    _agentskills_tools("validate"),
    _agentskills_tools("lint"),
    Validator(
        "skills-ref validate",
        _paths(_program("skills_ref", "python"), str(_DRIVER)),
        _skills_ref,
        ("skills-ref==0.1.1",),
        "3.11",
        "skills_ref",
    ),
    Validator(
        "claude plugin validate",
        _root(
            *(str(NODE / "node"), str(_CLAUDE / "cli-wrapper.cjs")),
            *("plugin", "validate", "--json"),
        ),
        _claude,
        limits_memory=False,  # Node reserves more than it uses
    ),
    Validator(
        "skilllint",
        _root(_program("skilllint", "skilllint"), "check", "--check", "--json"),
        _skilllint,
        ("skilllint==1.21.4",),
        environment="skilllint",
    ),
    Validator(
        "skillcheck",
        _paths(_program("skillcheck", "skillcheck"), "--format", "json"),
        _skillcheck,
        ("skillcheck==1.5.0",),
        environment="skillcheck",
    ),
    Validator(
        "agnix",
        _paths(_program("agnix", "agnix"), "--format", "json"),
        _agnix,
        ("agnix==0.59.3",),
        environment="agnix",
    ),
)
"""All of them, ours first."""
