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

from satchel.errors._access import (
    MAX_ECHO as MAX_ECHO,
    AmbiguousReferenceError,
    ApprovalDeclinedError,
    ApprovalNeededError,
    ApprovalUsedError,
    ArchiveError,
    ChangedSinceSyncError,
    DeniedError,
    DigestMismatchError,
    DuplicateSkillError,
    DuplicateToolError,
    LimitExceededError,
    NotStagedError,
    PackFileError,
    ReferenceEscapesError,
    ReferenceNotAllowedError,
    ReferenceNotFoundError,
    ReferenceUnreadableError,
    SkillError,
    SkillExcludedError,
    SkillManifestError,
    SkillNotFoundError,
    StateError,
    ToolError,
    echo as echo,
    error_payload as error_payload,
)
from satchel.errors._setup import (
    AlreadyThereError,
    CannotRetireError as CannotRetireError,
    ConfigError,
    ExtraMissingError,
    InvalidReleaseError,
    InvalidRoleError,
    MissingPathError,
    NoSkillsError,
    NoSources,
    NotEditableError as NotEditableError,
    NotWrittenError,
    RefusedPackError as RefusedPackError,
    RefusedReleaseError,
    RevisionError as RevisionError,
    SourceUnavailableError,
    TemplateError as TemplateError,
    TemplateNotFoundError,
    UnknownFieldError as UnknownFieldError,
)

__all__ = [
    "AlreadyThereError",
    "AmbiguousReferenceError",
    "ApprovalDeclinedError",
    "ApprovalNeededError",
    "ApprovalUsedError",
    "ArchiveError",
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
    "NotStagedError",
    "NotWrittenError",
    "PackFileError",
    "ReferenceEscapesError",
    "ReferenceNotAllowedError",
    "ReferenceNotFoundError",
    "ReferenceUnreadableError",
    "RefusedReleaseError",
    "SkillError",
    "SkillExcludedError",
    "SkillManifestError",
    "SkillNotFoundError",
    "SourceUnavailableError",
    "StateError",
    "TemplateNotFoundError",
    "ToolError",
]
