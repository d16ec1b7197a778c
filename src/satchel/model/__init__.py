"""The values that rooms exchange: frozen, hashable where they can be, free of I/O."""

from typing import TYPE_CHECKING

from satchel.lazy import lazy_door
from satchel.model._finding import (
    SEVERITIES as SEVERITIES,
    UNSEARCHED as UNSEARCHED,
    Finding as Finding,
    Severity as Severity,
    code_entry as code_entry,
    codes as codes,
    finding_kind as finding_kind,
    findings_of as findings_of,
    joined_findings as joined_findings,
    kinds_of as kinds_of,
    worst as worst,
)
from satchel.model._lazy_tuple import LazyTuple as LazyTuple, ids_of as ids_of
from satchel.model._limits import (
    DEFAULT_LIMITS as DEFAULT_LIMITS,
    MAX_COMPATIBILITY_CHARS as MAX_COMPATIBILITY_CHARS,
    MAX_DESCRIPTION_CHARS as MAX_DESCRIPTION_CHARS,
    MAX_NAME_CHARS as MAX_NAME_CHARS,
    PORTABLE_NAME as PORTABLE_NAME,
    SPEC_NAME as SPEC_NAME,
    STRICT_DESCRIPTION_CHARS as STRICT_DESCRIPTION_CHARS,
    STRICT_NAME as STRICT_NAME,
    Limits as Limits,
    is_name as is_name,
    portable_name,
)
from satchel.model._pack import (
    CONFIG_FILE as CONFIG_FILE,
    EVALS_FOLDER as EVALS_FOLDER,
    MARKETPLACES as MARKETPLACES,
    NO_CLIENT_FIELDS as NO_CLIENT_FIELDS,
    RELEASE_FILE as RELEASE_FILE,
    SKILL_FILE,
    Bucket as Bucket,
    Category as Category,
    ClientFields as ClientFields,
    Descriptor,
    FileStat,
    Found,
    Json as Json,
    Manifest,
    Origin,
    Resource,
    bucket_of as bucket_of,
)

if TYPE_CHECKING:
    from satchel.model._catalog import (
        IS_LOAD as IS_LOAD,
        Catalog as Catalog,
        Conflict,
        Excluded,
        ExclusionReason as ExclusionReason,
        FileReader as FileReader,
        OnConflict as OnConflict,
        SourceStatus as SourceStatus,
        SyncReport,
    )
    from satchel.model._events import (
        ActEvent as ActEvent,
        CatalogSynced,
        NeededSkill as NeededSkill,
        SkillSynced as SkillSynced,
        UsageEvent,
    )
    from satchel.model._lint import (
        DEFAULT_LINT as DEFAULT_LINT,
        FailOn as FailOn,
        Level as Level,
        LintConfig as LintConfig,
        Thresholds as Thresholds,
    )
    from satchel.model._results import (
        LOAD_TOOLS as LOAD_TOOLS,
        Hit as Hit,
        Loaded as Loaded,
        Match as Match,
        Rendered as Rendered,
        Request as Request,
        SkillGroup as SkillGroup,
        Style as Style,
        respelled as respelled,
    )
    from satchel.model._script import (
        Ending as Ending,
        Hold as Hold,
        Job,
        Outcome,
        OutputFile,
        ScriptOutput as ScriptOutput,
    )
    from satchel.model._session import (
        Action as Action,
        Activation as Activation,
        ApprovalAnswer as ApprovalAnswer,
        Decision as Decision,
        Question,
        Reply,
        Savings as Savings,
        SeenMessage,
        Verdict as Verdict,
    )

__all__ = [
    "SKILL_FILE",
    "CatalogSynced",
    "Conflict",
    "Descriptor",
    "Excluded",
    "FileStat",
    "Found",
    "Hit",
    "Job",
    "Manifest",
    "Origin",
    "Outcome",
    "OutputFile",
    "Question",
    "Reply",
    "Resource",
    "SeenMessage",
    "SyncReport",
    "UsageEvent",
    "portable_name",
]

__getattr__ = lazy_door(
    __name__,
    {
        "_catalog": "IS_LOAD Catalog Conflict Excluded ExclusionReason FileReader "
        "OnConflict SourceStatus SyncReport",
        "_events": "ActEvent CatalogSynced NeededSkill SkillSynced UsageEvent",
        "_lint": "DEFAULT_LINT FailOn Level LintConfig Thresholds",
        "_results": "LOAD_TOOLS Hit Loaded Match Rendered Request SkillGroup Style "
        "respelled",
        "_script": "Ending Hold Job Outcome OutputFile ScriptOutput",
        "_session": "Action Activation ApprovalAnswer Decision Question Reply Savings "
        "SeenMessage Verdict",
    },
)
