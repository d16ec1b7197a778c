"""What the session files of clients say about skills: listed, loaded, passed over.

Files are read line by line, as the clients write them; nothing is written.
"""

from satchel_lab.sessions._files import (
    SessionFiles as SessionFiles,
    read_sessions as read_sessions,
)
from satchel_lab.sessions._formats import FORMATS as FORMATS
from satchel_lab.sessions._judging import (
    UseReport as UseReport,
    judge_skills as judge_skills,
)
from satchel_lab.sessions._verdicts import SkillVerdict as SkillVerdict
