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
        return self.session.instructions()

    @property
    def tools(self) -> Toolbox | None:
        return self.session.tools() or None
