"""Runtimes for `check_runtime`: a good one, and others with one flaw each."""

import itertools
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from satchel import Satchel

BASE: Final = "You are the desk."


class Good:
    """Satchel's own session."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)
        self.session = Satchel(folder).session()

    def prompt(self) -> str:
        return self.session.instructions(BASE)

    def tools(self) -> Iterable[str]:
        return [tool.name for tool in self.session.tools()]

    def load(self, name: str) -> str:
        return str(self.session.call("load_skill", {"skill_id": name}))

    def read(self, name: str, path: str) -> str:
        arguments = {"skill_id": name, "path": path}
        return str(self.session.call("read_skill_file", arguments))


class Waits(Good):
    """The same, asynchronous."""

    async def prompt(self) -> str:  # type: ignore[override]
        return super().prompt()

    async def load(self, name: str) -> str:  # type: ignore[override]
        return super().load(name)


class Forgetful(Good):
    """One skill is not in the prompt."""

    def prompt(self) -> str:
        return super().prompt().replace("Use when somebody has to go somewhere.", "")


class Talkative(Good):
    """Instructions are in the prompt from the start."""

    def prompt(self) -> str:
        texts = sorted(self.folder.glob("refunds/SKILL.md"))
        return super().prompt() + "".join(path.read_text("utf-8") for path in texts)


class Restless(Good):
    """Each prompt begins with another number."""

    numbers = itertools.count()

    def prompt(self) -> str:
        return f"{next(self.numbers)} {super().prompt()}"


class Short(Good):
    """What is loaded is cut."""

    def load(self, name: str) -> str:
        return super().load(name)[:20] if name == "travel" else super().load(name)


class Blind(Good):
    """No file is read."""

    def read(self, name: str, path: str) -> str:
        return f"{name} has no {path}" if "limits" in path else super().read(name, path)


class Mute(Good):
    """A skill that is loaded again is not answered."""

    def load(self, name: str) -> str:
        was_loaded = name in {done.id for done in self.session.activations}
        return "" if was_loaded else super().load(name)


class Throwing(Good):
    """What is not there raises."""

    def load(self, name: str) -> str:
        if name == "no-such-skill":
            raise KeyError(name)
        return super().load(name)


class Open(Good):
    """Paths lead anywhere."""

    def read(self, name: str, path: str) -> str:
        place = self.folder / name / path
        if ".." in path and place.exists():
            return place.read_text("utf-8")
        return super().read(name, path)


class Greedy(Good):
    """A large file is read whole."""

    def read(self, name: str, path: str) -> str:
        place = self.folder / name / path
        return place.read_text() if path == "large.txt" else super().read(name, path)


class Fragile(Good):
    """A broken pack raises."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        if any(self.folder.glob("bad-*")):
            raise ValueError(folder)


class Raw(Good):
    """Descriptions are in the prompt as they are."""

    def prompt(self) -> str:
        raw = [entry.description for entry in self.session.catalog if entry.id == "odd"]
        return super().prompt() + "\n".join(raw)


class Full(Good):
    """A folder without skills is an error."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        if not any(self.folder.iterdir()):
            raise ValueError(folder)


class Shared(Good):
    """What one conversation loads is in the prompt of the next."""

    loaded: "dict[Path, str]" = {}  # noqa: RUF012 - its flaw

    def prompt(self) -> str:
        return super().prompt() + self.loaded.get(self.folder, "")

    def load(self, name: str) -> str:
        text = super().load(name)
        if name == "refunds":
            self.loaded[self.folder] = text
        return text


class Mixed(Good):
    """Loads at the same time get each other's text."""

    asked: "list[str]" = []  # noqa: RUF012 - its flaw

    def load(self, name: str) -> str:
        self.asked.append(name)
        time.sleep(0.2)
        return super().load(self.asked[-1])
