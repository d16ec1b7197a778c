"""Every exception that Satchel raises on purpose, and its stable code.

    SkillError
    ├── PathError                              a file or folder: path, detail, line
    │   ├── SkillManifestError (ValueError)    a manifest that cannot be used
    │   ├── ConfigError (ValueError)           satchel.toml, or an argument, is wrong
    │   ├── MissingPathError                   a folder that was named is not there
    │   ├── InvalidReleaseError (ValueError)   not a release, or of a later format
    │   ├── NotEditableError (ValueError)      a SKILL.md that no small change fits
    │   ├── AlreadyThereError                  nothing is written over what is there
    │   ├── NotWrittenError                    a file could not be written
    │   └── TemplateError (ValueError)         a legacy template that cannot be used
    │       └── TemplateNotFoundError (FileNotFoundError)  there is none
    ├── NamedError                             one named thing: name, detail
    │   ├── SourceUnavailableError             a source gave no answer
    │   ├── NoSkillsError                      no skill where some were expected
    │   ├── NotStagedError                     a skill's files could not be copied
    │   ├── ArchiveError (ValueError)          an archive that is not unpacked
    │   ├── RevisionError                      no earlier state to compare with
    │   ├── CannotRetireError (ValueError)     a skill that is not retired this way
    │   ├── InvalidRoleError (ValueError)      not a name that a role could have
    │   └── ToolError                          a tool call that cannot be run
    ├── PackFileError                          one file of a pack
    │   ├── ReferenceNotFoundError (KeyError)  listed, and missing
    │   ├── ReferenceNotAllowedError           not listed
    │   │   └── ReferenceEscapesError          would leave the pack
    │   ├── AmbiguousReferenceError            a short name with several owners
    │   ├── ReferenceUnreadableError           there, and cannot be read
    │   ├── ChangedSinceSyncError              not the bytes that were catalogued
    │   └── DigestMismatchError                not the bytes that were announced
    ├── DeniedError                            the policy does not allow it
    │   ├── ApprovalNeededError                a person has to be asked, and was not
    │   ├── ApprovalDeclinedError              a person was asked, and said no
    │   └── ApprovalUsedError                  the yes was for a call that was made
    ├── SkillNotFoundError (KeyError)          every source answered, none has it
    ├── SkillExcludedError                     known, and not loaded: with a reason
    ├── DuplicateSkillError (RuntimeError)     two packs claim one id
    ├── DuplicateToolError (RuntimeError)      two tools of one name
    ├── LimitExceededError (ValueError)        more than is accepted
    ├── NoSources                              nothing says where skills are
    ├── RefusedReleaseError                    no release is built of such skills
    ├── RefusedPackError                       no archive is made of such a pack
    ├── UnknownFieldError (ValueError)         a field that no layer may change
    ├── StateError (ValueError)                a state that nothing can resume from
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
    ChangedSinceSyncError,
    DeniedError,
    DigestMismatchError,
    DuplicateSkillError,
    DuplicateToolError,
    NamedError as NamedError,
    NotStagedError,
    PackFileError,
    PathError as PathError,
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
    rename_advice as rename_advice,
)
from satchel.errors._setup import (
    AlreadyThereError,
    ArchiveError,
    CannotRetireError as CannotRetireError,
    ConfigError,
    ExtraMissingError,
    InvalidReleaseError,
    InvalidRoleError,
    LimitExceededError,
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
    install_command as install_command,
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

# A traceback names what a user can import.
for _name in __all__:
    globals()[_name].__module__ = __name__
