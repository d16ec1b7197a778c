"""A whole Satchel as one skill: what an agent wears that knows of skills alone."""

from dataclasses import dataclass

from satchel.runtime.session import Session
from satchel.tools import Toolbox

__all__ = ["Whole"]


@dataclass(frozen=True, slots=True)
class Whole:
    """Name, instructions and tools of one session, each as it is when it is read."""

    name: str
    session: Session

    @property
    def instructions(self) -> str:
        """The catalog section, and what goes with it."""
        return self.session.instructions()

    @property
    def tools(self) -> Toolbox | None:
        """The tools that are open now; None where there are none."""
        return self.session.tools() or None
