"""The clients whose session files can be read; ``formats.toml`` has the tables."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final


@dataclass(frozen=True, slots=True)
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
    turns: str = "\0"
    no_turn: str = "\0"
    large: tuple[str, ...] = ()
    leaves_out: bool = False

    @property
    def home(self) -> Path:
        """The folder of the client on this machine."""
        return Path(os.environ.get(self.variable) or Path.home() / self.config)

    def may_say(self, line: bytes) -> bool:
        """Tell whether a line may hold a turn, a list or a load."""
        if line.startswith(tuple(map(str.encode, self.large))):
            return False
        is_turn = self.turns.encode() in line and self.no_turn.encode() not in line
        return is_turn or any(mark.encode() in line for mark in self.marks)


_TABLES: Final = Path(__file__).with_name("formats.toml").read_text("utf-8")
FORMATS: Final[Mapping[str, SessionFormat]] = {
    key: SessionFormat(key, **table) for key, table in tomllib.loads(_TABLES).items()
}
