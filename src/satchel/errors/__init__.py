"""Every exception that Satchel raises, and the one table of their codes.

    SkillError
    ├── SkillManifestError (ValueError)        a manifest that cannot be used
    ├── SkillNotFoundError (KeyError)          every source answered, none has it
    ├── SkillWithheldError                     it is there, and not handed out
    ├── DuplicateSkillError (RuntimeError)     two packs claim one id
    ├── PackFileError                          one file of a pack
    │   ├── ReferenceNotFoundError (KeyError)  listed, and missing
    │   ├── ReferenceNotAllowedError           not listed
    │   │   └── ReferenceEscapesError          would leave the pack
    │   ├── AmbiguousReferenceError            a short name with several owners
    │   ├── ReferenceUnreadableError           there, and cannot be read
    │   ├── ChangedSinceSyncError              not the bytes that were catalogued
    │   └── DigestMismatchError                not the bytes that were announced
    ├── LimitExceededError (ValueError)        more than was agreed to accept
    ├── ArchiveError (ValueError)              an archive that is not unpacked
    ├── SourceUnavailableError                 a source gave no answer
    ├── NoSkillsError                          no skill where some were expected
    ├── NoSources                              nothing says where skills are
    ├── MissingPathError                       a folder that was named is not there
    ├── ConfigError (ValueError)               satchel.toml cannot be used
    ├── RevisionError                          no earlier state to compare with
    ├── InvalidReleaseError (ValueError)       no release, or one of a later format
    ├── RefusedReleaseError                    no release is built of skills like these
    ├── RefusedPackError                       no archive is made of a pack like this
    ├── NotEditableError (ValueError)          a SKILL.md that no small change fits
    ├── UnknownFieldError (ValueError)         a field that no layer may change
    ├── CannotRetireError (ValueError)         a skill that is not retired this way
    ├── AlreadyThereError                      nothing is written over what is there
    ├── NotWrittenError                        a file could not be written
    ├── DeniedError                            the policy does not let it be done
    │   ├── ApprovalNeededError                somebody has to be asked, and was not
    │   ├── ApprovalDeclinedError              somebody was asked, and said no
    │   └── ApprovalUsedError                  the yes was for a call that was made
    ├── StateError (ValueError)                a state that nothing can resume from
    ├── NotStagedError                         a skill's files could not be copied
    ├── InvalidRoleError (ValueError)          no name that a role could have
    ├── TemplateError (ValueError)             a legacy template that cannot be used
    │   └── TemplateNotFoundError (FileNotFoundError)  there is none
    ├── ToolError                              a tool call that cannot be carried out
    ├── DuplicateToolError (RuntimeError)      two tools of one name
    └── ExtraMissingError (ImportError)        an optional extra is not installed

Each class carries its objects, ``args`` equal to its signature so that it pickles.
``code`` is stable: programs and prompts depend on it.
"""

from satchel.errors.base import (
    MAX_ECHO,
    SkillError,
    echo,
    error_payload,
)
from satchel.errors.calls import (
    ApprovalDeclinedError,
    ApprovalNeededError,
    ApprovalUsedError,
    DeniedError,
    DuplicateToolError,
    StateError,
    ToolError,
)
from satchel.errors.files import (
    AmbiguousReferenceError,
    ArchiveError,
    ChangedSinceSyncError,
    DigestMismatchError,
    LimitExceededError,
    NotStagedError,
    PackFileError,
    ReferenceEscapesError,
    ReferenceNotAllowedError,
    ReferenceNotFoundError,
    ReferenceUnreadableError,
)
from satchel.errors.making import (
    AlreadyThereError,
    CannotRetireError,
    InvalidRoleError,
    NotEditableError,
    NotWrittenError,
    RefusedPackError,
    RefusedReleaseError,
    TemplateError,
    TemplateNotFoundError,
    UnknownFieldError,
)
from satchel.errors.places import (
    ConfigError,
    ExtraMissingError,
    InvalidReleaseError,
    MissingPathError,
    NoSkillsError,
    NoSources,
    RevisionError,
    SourceUnavailableError,
)
from satchel.errors.skills import (
    DuplicateSkillError,
    SkillManifestError,
    SkillNotFoundError,
    SkillWithheldError,
)

__all__ = [
    "MAX_ECHO",
    "AlreadyThereError",
    "AmbiguousReferenceError",
    "ApprovalDeclinedError",
    "ApprovalNeededError",
    "ApprovalUsedError",
    "ArchiveError",
    "CannotRetireError",
    "ChangedSinceSyncError",
    "ConfigError",
    "DeniedError",
    "DigestMismatchError",
    "DuplicateSkillError",
    "DuplicateToolError",
    "ExtraMissingError",
    "InvalidReleaseError",
    "InvalidRoleError",
    "LimitExceededError",
    "MissingPathError",
    "NoSkillsError",
    "NoSources",
    "NotEditableError",
    "NotStagedError",
    "NotWrittenError",
    "PackFileError",
    "ReferenceEscapesError",
    "ReferenceNotAllowedError",
    "ReferenceNotFoundError",
    "ReferenceUnreadableError",
    "RefusedPackError",
    "RefusedReleaseError",
    "RevisionError",
    "SkillError",
    "SkillManifestError",
    "SkillNotFoundError",
    "SkillWithheldError",
    "SourceUnavailableError",
    "StateError",
    "TemplateError",
    "TemplateNotFoundError",
    "ToolError",
    "UnknownFieldError",
    "echo",
    "error_payload",
]
