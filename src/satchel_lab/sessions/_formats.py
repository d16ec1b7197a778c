"""The clients whose session files can be read; ``formats.toml`` has the tables."""

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from satchel.sources import CLIENT_FOLDERS, ClientFolders


@dataclass(frozen=True)
class SessionFormat:
    """One client, as ``formats.toml`` describes it; `_rows` reads by its ``rules``."""

    key: str
    title: str
    tried: str
    config: str
    sessions: list[str]
    folders: list[str]
    sign: list[str]
    types: str
    marks: list[str]
    rules: list[dict[str, Any]]
    variable: str = ""
    turns: tuple[str, ...] = ()
    no_turn: str = "\0"
    large: tuple[str, ...] = ()
    share: float = 1.0
    leaves_out: bool = False

    @property
    def home(self) -> Path:
        """The folder of the client on this machine."""
        moved = os.environ.get(self.variable) if self.variable else None
        return Path(moved) if moved else Path.home() / self.config

    @cached_property
    def known_types(self) -> frozenset[str]:
        """All types of lines that were seen, or that others describe."""
        return frozenset(self.types.split())

    def client_folders(self) -> Iterator[ClientFolders]:
        """Yield whose folders of skills it reads."""
        return (one for one in CLIENT_FOLDERS if one.name in self.folders)

    def may_say(self, line: bytes) -> bool:
        """Tell whether a line may hold a turn, a list or a load."""
        has = line.__contains__
        if line.startswith(tuple(map(str.encode, self.large))):
            return False
        return any(map(has, map(str.encode, self.marks))) or (
            any(map(has, map(str.encode, self.turns)))
            and not has(self.no_turn.encode())
        )


def _formats() -> dict[str, SessionFormat]:
    text = Path(__file__).with_name("formats.toml").read_text("utf-8")
    return {
        key: SessionFormat(key, **table) for key, table in tomllib.loads(text).items()
    }


FORMATS: Final[Mapping[str, SessionFormat]] = _formats()
