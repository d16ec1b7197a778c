"""What a skill is to an agent, skills written in code, and a small agent loop."""

from typing import TYPE_CHECKING

from satchel.agent._skill import (
    BaseSkill as BaseSkill,
    Skill as Skill,
    SkillLike as SkillLike,
    check_skill as check_skill,
    compose,
    text_of as text_of,
    tools_of as tools_of,
)
from satchel.lazy import lazy_door

if TYPE_CHECKING:
    from satchel.agent._agent import (
        Agent,
        AgentResult,
        Call,
        Message,
        Model,
        StopReason as StopReason,
    )

__all__ = ["Agent", "AgentResult", "Call", "Message", "Model", "compose"]

__getattr__ = lazy_door(
    __name__, {"_agent": "Agent AgentResult Call Message Model StopReason"}
)
