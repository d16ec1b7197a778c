"""The seam between this measurement and the programs that it runs.

A loader is anything that is given a library, a folder of pack folders, and says which
skills it finds there. To add one, write a class with the members of `Driver` in
``tools/loaders/drivers/``, and name its instances in ``DRIVERS`` of that module;
`tools.loaders.registered` collects them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from tools.loaders.known import UV

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

Kind = Literal["framework", "client", "validator"]


class UnavailableError(Exception):
    """A loader cannot be had or run here; the text says why."""


def uv_command(uv: Path = UV) -> tuple[str, ...]:
    """Return how uv is called, which makes the environments.

    Raises:
        UnavailableError: It is missing.
    """
    if not uv.exists():
        advice = "install it with `python -m pip install -r requirements/lock.txt`"
        raise UnavailableError(f"{uv.name} is missing, which is to be {uv}; {advice}")
    return (str(uv), "--quiet", "--no-progress")


@dataclass(frozen=True, slots=True)
class Seen:
    """What a loader found in one library.

    ``found`` is a pair for each skill: its name, and its description, or None where
    the loader tells no descriptions. A validator, which is asked of one pack at a
    time, has found those that it accepts. ``error`` is what was raised, or how the
    program ended where that was no success; empty where all went well. What was found
    before counts.
    """

    found: tuple[tuple[str, str | None], ...] = ()
    error: str = ""


class Driver(Protocol):
    """One loader, and how to run it."""

    @property
    def key(self) -> str:
        """Its key in kebab-case, as `--for` takes it."""
        ...

    @property
    def title(self) -> str:
        """What it is called, such as ``Google ADK``."""
        ...

    @property
    def kind(self) -> Kind:
        """What it is."""
        ...

    @property
    def source(self) -> str:
        """What is called, such as ``google.adk.skills.load_skills_from_dir``."""
        ...

    def prepare(self) -> str:
        """Install what is missing, and return the version.

        Raises:
            UnavailableError: It cannot be had here.
        """
        ...

    def look(self, libraries: Sequence[Path]) -> Iterator[Seen]:
        """Yield what is found in each library, in their order.

        Each library is looked at as if it were the only one: nothing that was learnt
        of one may be left for the next. A library is a folder outside any project, and
        may be written to: it is thrown away afterwards.

        Raises:
            UnavailableError: The loader itself cannot be run, whatever the library.
        """
        ...
