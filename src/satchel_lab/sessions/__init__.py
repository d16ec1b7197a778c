"""What the session files of clients say about skills: listed, loaded, passed over.

Files are read line by line, as the clients write them; nothing is written.
"""

from typing import TYPE_CHECKING

from satchel.lazy import lazy_door

if TYPE_CHECKING:
    from satchel_lab.sessions._files import (
        SessionFiles as SessionFiles,
        read_sessions as read_sessions,
    )
    from satchel_lab.sessions._formats import FORMATS as FORMATS
    from satchel_lab.sessions._judging import (
        UseReport as UseReport,
        judge_skills as judge_skills,
    )
    from satchel_lab.sessions._rows import (
        ClientSession as ClientSession,
        SessionUse as SessionUse,
        UserTurn as UserTurn,
    )
    from satchel_lab.sessions._verdicts import (
        USE_VERDICTS as USE_VERDICTS,
        PassedTurn as PassedTurn,
        SkillEvidence as SkillEvidence,
        SkillVerdict as SkillVerdict,
        verdict_of as verdict_of,
    )

__getattr__ = lazy_door(
    __name__,
    {
        "_files": "SessionFiles read_sessions",
        "_formats": "FORMATS",
        "_judging": "UseReport judge_skills",
        "_rows": "ClientSession SessionUse UserTurn",
        "_verdicts": "PassedTurn SkillEvidence SkillVerdict USE_VERDICTS verdict_of",
    },
)
