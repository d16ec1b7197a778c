"""The values that rooms exchange: frozen, hashable where they can be, free of I/O."""

from satchel.model.catalog import (
    Catalog,
    Conflict,
    OnConflict,
    Reader,
    SourceState,
    SyncReport,
    Withheld,
    WithheldReason,
)
from satchel.model.finding import Finding, Severity, worst
from satchel.model.limits import DEFAULT_LIMITS, Limits
from satchel.model.loading import Loaded, Request, Style
from satchel.model.manifest import NO_CLIENT_FIELDS, ClientFields, Json, Manifest
from satchel.model.pack import (
    SKILL_FILE,
    Descriptor,
    FileStat,
    Found,
    Origin,
    Resource,
    bucket_of,
)
from satchel.model.rendering import Rendered
from satchel.model.search import Hit
from satchel.model.session import (
    Action,
    Activation,
    Answer,
    Decision,
    Question,
    Reply,
    Savings,
    Seen,
    Verdict,
)
from satchel.model.usage import CatalogSynced, SkillSynced, UsageEvent

__all__ = [
    "DEFAULT_LIMITS",
    "NO_CLIENT_FIELDS",
    "SKILL_FILE",
    "Action",
    "Activation",
    "Answer",
    "Catalog",
    "CatalogSynced",
    "ClientFields",
    "Conflict",
    "Decision",
    "Descriptor",
    "FileStat",
    "Finding",
    "Found",
    "Hit",
    "Json",
    "Limits",
    "Loaded",
    "Manifest",
    "OnConflict",
    "Origin",
    "Question",
    "Reader",
    "Rendered",
    "Reply",
    "Request",
    "Resource",
    "Savings",
    "Seen",
    "Severity",
    "SkillSynced",
    "SourceState",
    "Style",
    "SyncReport",
    "UsageEvent",
    "Verdict",
    "Withheld",
    "WithheldReason",
    "bucket_of",
    "worst",
]
