"""Errors carry their objects, survive pickling, and say what to do."""

import inspect
import pickle
import re

import pytest

from satchel import errors
from satchel.errors import (
    AlreadyThereError,
    AmbiguousReferenceError,
    ApprovalDeclinedError,
    ApprovalNeededError,
    ApprovalUsedError,
    ArchiveError,
    CannotRetireError,
    ChangedSinceSyncError,
    ConfigError,
    DeniedError,
    DigestMismatchError,
    DuplicateSkillError,
    DuplicateToolError,
    ExtraMissingError,
    InvalidReleaseError,
    InvalidRoleError,
    LimitExceededError,
    MissingPathError,
    NoSkillsError,
    NoSources,
    NotEditableError,
    NotStagedError,
    NotWrittenError,
    ReferenceEscapesError,
    ReferenceNotAllowedError,
    ReferenceNotFoundError,
    ReferenceUnreadableError,
    RefusedPackError,
    RefusedReleaseError,
    RevisionError,
    SkillError,
    SkillExcludedError,
    SkillManifestError,
    SkillNotFoundError,
    SourceUnavailableError,
    StateError,
    TemplateError,
    TemplateNotFoundError,
    ToolError,
    UnknownFieldError,
    error_payload,
)
from satchel.load import model_message, render_context_error

EXAMPLES: list[tuple[SkillError, str]] = [
    (InvalidRoleError("../x", "no dots"), "'../x' is no name of a role: no dots"),
    (TemplateError("roles/a", "it is no text"), "roles/a: it is no text"),
    (TemplateNotFoundError("roles/a"), "roles/a: no such template"),
    (
        ApprovalDeclinedError("tool", "a", "refund", "rule 1"),
        "calling 'refund' of skill 'a' was declined by the user; it was not done",
    ),
    (
        ApprovalNeededError("load", "a", reason="rule 1"),
        "loading skill 'a' needs an approval; it was not done",
    ),
    (
        ApprovalDeclinedError("load", "a", words="Not now."),
        (
            "loading skill 'a' was declined by the user; it was not done. The user "
            "says: Not now."
        ),
    ),
    (
        ApprovalUsedError("tool", "a", "refund"),
        (
            "calling 'refund' of skill 'a' was approved for one call, and that call "
            "was made or begun before; it was not done again. Find out whether it took "
            "effect; if not, make a new call"
        ),
    ),
    (DeniedError("read", "a"), "reading a file of skill 'a' is not allowed here"),
    (InvalidReleaseError("dist", "no JSON"), "dist: no JSON"),
    (RefusedReleaseError(("a: x", "b: y")), "no release is built: a: x; b: y"),
    (ArchiveError("a.zip", "it ends"), "the archive a.zip is not unpacked: it ends"),
    (ArchiveError("", "it ends"), "the archive is not unpacked: it ends"),
    (
        RefusedPackError("a", ("x", "y")),
        "a: no archive is made: x; y",
    ),
    (
        NotEditableError("a/SKILL.md", "no mapping", 3),
        "a/SKILL.md:3: no mapping; change it by hand",
    ),
    (NotEditableError("SKILL.md", "no"), "SKILL.md: no; change it by hand"),
    (
        UnknownFieldError("tags", "team", "a"),
        (
            "layer 'team' of skill 'a': unknown field 'tags'; mend its spelling, "
            "or move it into metadata"
        ),
    ),
    (CannotRetireError("a", "it is"), "skill 'a' is not retired: it is"),
    (AlreadyThereError("a"), "a is there already; nothing was written"),
    (
        AlreadyThereError("a", "SKILL.md"),
        "a is there already: SKILL.md; nothing was written",
    ),
    (NotWrittenError("a", "No space"), "a was not written: No space"),
    (RevisionError("v1", "no git"), "cannot compare with 'v1': no git"),
    (SkillNotFoundError("a", ("b",), "c"), "skill 'a' not found; 'c' takes its place"),
    (StateError("no mapping"), "not the state of a session: no mapping"),
    (
        NotStagedError("a", "No space left on device"),
        "the files of skill 'a' were not staged: No space left on device",
    ),
    (SkillManifestError("a/SKILL.md", "no name", 3), "a/SKILL.md:3: no name"),
    (SkillManifestError("a/SKILL.md", "no name"), "a/SKILL.md: no name"),
    (SkillNotFoundError("a"), "skill 'a' not found"),
    (
        SkillNotFoundError("a", ("b", "c")),
        "skill 'a' not found; did you mean b, c?",
    ),
    (
        SkillExcludedError("a", "disabled", "enable it"),
        "skill 'a' is disabled and cannot be loaded; enable it",
    ),
    (
        DuplicateSkillError("a", "x/a", "y/a"),
        "duplicate skill 'a': defined in both x/a and y/a",
    ),
    (
        ReferenceNotFoundError("a", "r.md", ("s.md",)),
        "'r.md' is listed by skill 'a' and is missing; listed files: s.md",
    ),
    (
        ReferenceNotAllowedError("a", "r.md"),
        "'r.md' is not a listed file of skill 'a'",
    ),
    (
        ReferenceEscapesError("a", "../r", detail="it has a part that is .."),
        "'../r' does not stay inside skill 'a': it has a part that is ..",
    ),
    (
        AmbiguousReferenceError("a", "r.md", ("x/r.md", "y/r.md")),
        "'r.md' names several files of skill 'a'; listed files: x/r.md, y/r.md",
    ),
    (ReferenceUnreadableError("a", "r.md"), "'r.md' of skill 'a' cannot be read"),
    (
        ChangedSinceSyncError("a", "r.md"),
        "'r.md' of skill 'a' has changed since it was catalogued",
    ),
    (
        DigestMismatchError("a", "r.md", detail="want sha256:1, got sha256:2"),
        "'r.md' of skill 'a' is not what was announced: want sha256:1, got sha256:2",
    ),
    (
        LimitExceededError("file_bytes", 1000, 2000, "bytes", "r.md"),
        "r.md: 2,000 bytes exceed the limit file_bytes = 1,000 bytes",
    ),
    (SourceUnavailableError("s", "gone"), "source 's' did not answer: gone"),
    (NoSources("write a line"), "write a line"),
    (NoSkillsError("skills", "there is none"), "skills: there is none"),
    (NoSkillsError("", "there is none"), "there is none"),
    (ConfigError("satchel.toml", "bad"), "satchel.toml: bad"),
    (MissingPathError("x"), "x: no such file or folder"),
    (ToolError("t", "bad"), "t: bad"),
    (
        DuplicateToolError("t", "a", "b"),
        "duplicate tool 't': offered by both a and b",
    ),
    (
        ExtraMissingError("hot reload", "watch"),
        "hot reload needs: pip install 'satchel[watch]'",
    ),
]


@pytest.mark.row("X09", "A10")
@pytest.mark.parametrize(("error", "text"), EXAMPLES, ids=[t for _, t in EXAMPLES])
def test_each_error_is_a_sentence_a_value_and_a_payload(
    error: SkillError, text: str
) -> None:
    """Equal after pickling, and mapped to one structured form."""
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes

    assert str(error) == text
    assert (type(again), again.args, str(again)) == (type(error), error.args, text)
    assert error_payload(error) == {"error": {"code": error.code, "message": text}}


@pytest.mark.parametrize(("error", "text"), EXAMPLES, ids=[t for _, t in EXAMPLES])
def test_arguments_by_name_are_the_same(error: SkillError, text: str) -> None:
    """What pickles by its arguments has to keep them however they were given."""
    names = list(inspect.signature(type(error).__init__).parameters)[1:]
    named = dict(zip(names, error.args, strict=False))
    again = type(error)(**named)

    assert (again.args[: len(named)], str(again)) == (error.args, text)


def test_codes_are_kebab_case_and_each_names_one_error() -> None:
    classes = {
        value
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, SkillError)
    }
    codes = [each.code for each in classes]

    assert len(set(codes)) == len(codes)
    assert all(code == code.lower() and " " not in code for code in codes)
    assert {type(error) for error, _ in EXAMPLES} >= classes - {
        SkillError,
        errors.PackFileError,
    }


@pytest.mark.row("A10", "A27", "C17", "C36", "R13")
@pytest.mark.parametrize(
    ("error", "base"),
    [
        (SkillManifestError, ValueError),
        (SkillNotFoundError, KeyError),
        (DuplicateSkillError, RuntimeError),
        (ReferenceNotFoundError, KeyError),
        (ReferenceEscapesError, ReferenceNotAllowedError),
        (LimitExceededError, ValueError),
    ],
)
def test_the_names_and_bases_that_callers_know(
    error: type[Exception], base: type[Exception]
) -> None:
    assert issubclass(error, base)


def test_a_message_names_no_thousands_of_files() -> None:
    listed = tuple(f"references/{i}.md" for i in range(1000))
    error = ReferenceNotAllowedError("a", "x.md", listed)

    assert str(error).endswith("references/19.md and 980 more")
    assert error.listed == listed


@pytest.mark.row("C18")
def test_a_broken_manifest_names_its_path_whatever_the_detail_says() -> None:
    error = SkillManifestError("packs/a/SKILL.md", "no name")

    assert error.path == "packs/a/SKILL.md"
    assert str(error).startswith("packs/a/SKILL.md")


@pytest.mark.row("F04", "T05")
def test_no_error_asks_a_model_for_what_a_model_cannot_do() -> None:
    more: list[SkillError] = [
        ChangedSinceSyncError("a", "SKILL.md"),
        ExtraMissingError("hot reload", "watch"),
        SourceUnavailableError("s", "restart it"),
        SkillExcludedError("a", "refused", "sync again"),
    ]
    for error in (*(example for example, _ in EXAMPLES), *more):
        message = model_message(error)
        page = render_context_error(error, "a")
        for text in (message, page):
            assert not re.search(r"\b(sync|restart|re-?install|install)\b", text), text
