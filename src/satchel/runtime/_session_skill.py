"""A session as one skill, for agents that know only skills."""

from dataclasses import dataclass

from satchel.runtime._session import Session
from satchel.tools import Toolbox


@dataclass(frozen=True, slots=True)
class SessionSkill:
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
