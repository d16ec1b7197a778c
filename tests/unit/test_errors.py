"""Errors carry their objects, survive pickling, and say what to do."""

import inspect
import pickle
import re

import pytest

from satchel import errors
from satchel.errors import ReferenceNotAllowedError, SkillError, error_payload
from satchel.load import model_message, render_context_error

EXAMPLES: list[tuple[SkillError, str]] = [
    (errors.AlreadyThereError("a"), "a is there already; nothing was written"),
    (
        errors.AlreadyThereError("a", "SKILL.md"),
        "a is there already: SKILL.md; nothing was written",
    ),
    (
        errors.AmbiguousReferenceError("a", "r.md", ("x/r.md", "y/r.md")),
        "'r.md' names several files of skill 'a'; listed files: x/r.md, y/r.md",
    ),
    (
        errors.ApprovalDeclinedError("tool", "a", "refund", "rule 1"),
        "calling 'refund' of skill 'a' was declined by the user; it was not done",
    ),
    (
        errors.ApprovalDeclinedError("load", "a", words="Not now."),
        (
            "loading skill 'a' was declined by the user; it was not done. The user "
            "says: Not now."
        ),
    ),
    (
        errors.ApprovalNeededError("load", "a", reason="rule 1"),
        "loading skill 'a' needs an approval; it was not done",
    ),
    (
        errors.ApprovalUsedError("tool", "a", "refund"),
        (
            "calling 'refund' of skill 'a' was approved for one call, and that call "
            "was made or begun before; it was not done again. Find out whether it took "
            "effect; if not, make a new call"
        ),
    ),
    (
        errors.ArchiveError("a.zip", "it ends"),
        "the archive a.zip is not unpacked: it ends",
    ),
    (errors.ArchiveError("", "it ends"), "the archive is not unpacked: it ends"),
    (errors.CannotRetireError("a", "it is"), "skill 'a' is not retired: it is"),
    (
        errors.ChangedSinceSyncError("a", "r.md"),
        "'r.md' of skill 'a' has changed since it was catalogued",
    ),
    (errors.ConfigError("satchel.toml", "bad"), "satchel.toml: bad"),
    (
        errors.DeniedError("read", "a"),
        "reading a file of skill 'a' is not allowed here",
    ),
    (
        errors.DigestMismatchError("a", "r.md", detail="want sha256:1, got sha256:2"),
        "'r.md' of skill 'a' is not what was announced: want sha256:1, got sha256:2",
    ),
    (
        errors.DuplicateSkillError("a", "x/a", "y/a"),
        "duplicate skill 'a': defined in both x/a and y/a",
    ),
    (
        errors.DuplicateToolError("t", "a", "b"),
        "duplicate tool 't': offered by both a and b",
    ),
    (
        errors.ExtraMissingError("hot reload", "watch"),
        (
            "hot reload needs an extra: "
            "pip install '.[watch]', in the folder of Satchel's source"
        ),
    ),
    (
        errors.ProductMissingError("satchel check", "satchel_lab"),
        (
            "satchel check needs satchel_lab, which is not here: "
            "pip install '.', in the folder of Satchel's source"
        ),
    ),
    (errors.InvalidReleaseError("dist", "no JSON"), "dist: no JSON"),
    (
        errors.InvalidRoleError("../x", "no dots"),
        "'../x' is not the name of a role: no dots",
    ),
    (
        errors.LimitExceededError("file_bytes", 1000, 2000, "bytes", "r.md"),
        "r.md: 2,000 bytes exceed the limit file_bytes = 1,000 bytes",
    ),
    (errors.MissingPathError("x"), "x: no such file or folder"),
    (errors.NoSkillsError("skills", "there is none"), "skills: there is none"),
    (errors.NoSkillsError("", "there is none"), "there is none"),
    (errors.NoSources("write a line"), "write a line"),
    (
        errors.NotEditableError("a/SKILL.md", "no mapping", 3),
        "a/SKILL.md:3: no mapping; change it by hand",
    ),
    (
        errors.NotStagedError("a", "No space left on device"),
        "the files of skill 'a' were not staged: No space left on device",
    ),
    (errors.NotInstalledError("a", "it is taken"), "a: it is taken"),
    (errors.NotWrittenError("a", "No space"), "a was not written: No space"),
    (
        errors.ReferenceEscapesError("a", "../r", detail="it has a part that is .."),
        "'../r' does not stay inside skill 'a': it has a part that is ..",
    ),
    (ReferenceNotAllowedError("a", "r.md"), "'r.md' is not a listed file of skill 'a'"),
    (
        errors.ReferenceNotFoundError("a", "r.md", ("s.md",)),
        "'r.md' is listed by skill 'a' and is missing; listed files: s.md",
    ),
    # What is missing is none of the files to take in its place.
    (
        errors.ReferenceNotFoundError("a", "r.md", ("r.md", "t.md")),
        "'r.md' is listed by skill 'a' and is missing; listed files: t.md",
    ),
    (
        errors.ReferenceNotFoundError("a", "r.md", ("r.md",)),
        "'r.md' is listed by skill 'a' and is missing",
    ),
    (
        errors.ReferenceUnreadableError("a", "r.md"),
        "'r.md' of skill 'a' cannot be read",
    ),
    (errors.RefusedPackError("a", ("x", "y")), "a: no archive is made: x; y"),
    (errors.RefusedReleaseError(("a: x", "b: y")), "no release is built: a: x; b: y"),
    (errors.RevisionError("v1", "no git"), "cannot compare with 'v1': no git"),
    (
        errors.SkillExcludedError("a", "disabled", "enable it"),
        "skill 'a' is disabled and cannot be loaded; enable it",
    ),
    (errors.SkillManifestError("a/SKILL.md", "no name", 3), "a/SKILL.md:3: no name"),
    (errors.SkillManifestError("a/SKILL.md", "no name"), "a/SKILL.md: no name"),
    (errors.SkillNotFoundError("a"), "skill 'a' not found"),
    (
        errors.SkillNotFoundError("a", ("b", "c")),
        "skill 'a' not found; did you mean b, c?",
    ),
    (
        errors.SkillNotFoundError("a", ("b",), "c"),
        "skill 'a' not found; 'c' takes its place",
    ),
    (errors.SourceUnavailableError("s", "gone"), "source 's' did not answer: gone"),
    (errors.StateError("no mapping"), "this is not the state of a session: no mapping"),
    (errors.TemplateError("roles/a", "it is not text"), "roles/a: it is not text"),
    (errors.TemplateNotFoundError("roles/a"), "roles/a: no such template"),
    (errors.ToolError("t", "bad"), "t: bad"),
    (
        errors.UnknownFieldError("tags", "team", "a"),
        (
            "layer 'team' of skill 'a': unknown field 'tags'; fix its spelling, "
            "or move it into metadata"
        ),
    ),
]


@pytest.mark.row("X09", "A10")
@pytest.mark.parametrize(("error", "text"), EXAMPLES, ids=[t for _, t in EXAMPLES])
def test_an_error_is_a_sentence_a_value_and_a_payload(
    error: SkillError, text: str
) -> None:
    """It is equal after pickling, and keeps arguments that are given by name."""
    unpickled = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    names = list(inspect.signature(type(error).__init__).parameters)[1:]
    named = dict(zip(names, error.args, strict=False))
    rebuilt = type(error)(**named)

    assert str(error) == text
    assert (type(unpickled), unpickled.args, str(unpickled)) == (
        type(error),
        error.args,
        text,
    )
    assert (rebuilt.args[: len(named)], str(rebuilt)) == (error.args, text)
    assert error_payload(error) == {"error": {"code": error.code, "message": text}}


def test_codes_are_kebab_case_and_each_names_one_error() -> None:
    classes = {
        value
        for value in vars(errors).values()
        if isinstance(value, type)
        and issubclass(value, SkillError)
        and "code" in vars(value)
    }
    codes = [error.code for error in classes]

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
        (errors.SkillManifestError, ValueError),
        (errors.SkillNotFoundError, KeyError),
        (errors.DuplicateSkillError, RuntimeError),
        (errors.ReferenceNotFoundError, KeyError),
        (errors.ReferenceEscapesError, ReferenceNotAllowedError),
        (errors.LimitExceededError, ValueError),
    ],
)
def test_the_names_and_bases_that_callers_know(
    error: type[Exception], base: type[Exception]
) -> None:
    assert issubclass(error, base)


def test_a_message_names_no_thousands_of_files_and_a_traceback_the_room() -> None:
    assert errors.ToolError.__module__ == "satchel.errors"
    listed = tuple(f"references/{i}.md" for i in range(1000))
    error = ReferenceNotAllowedError("a", "x.md", listed)

    assert str(error).endswith("references/19.md and 980 more")
    assert error.listed == listed


@pytest.mark.row("F04", "T05")
def test_no_error_asks_a_model_for_what_a_model_cannot_do() -> None:
    more: list[SkillError] = [
        errors.ChangedSinceSyncError("a", "SKILL.md"),
        errors.ExtraMissingError("hot reload", "watch"),
        errors.SourceUnavailableError("s", "restart it"),
        errors.SkillExcludedError("a", "refused", "sync again"),
    ]
    for error in (*(example for example, _ in EXAMPLES), *more):
        message = model_message(error)
        page = render_context_error(error, "a")
        for text in (message, page):
            assert not re.search(r"\b(sync|restart|re-?install|install)\b", text), text


@pytest.mark.parametrize(
    ("name", "extra", "expected"),
    [
        ("", "", "pip install '.', in the folder of Satchel's source"),
        ("some-name", "", "pip install 'some-name'"),
        ("some-name", "serve", "pip install 'some-name[serve]'"),
    ],
)
def test_an_install_command_never_names_what_is_not_published(
    monkeypatch: pytest.MonkeyPatch, name: str, extra: str, expected: str
) -> None:
    monkeypatch.setattr("satchel.published.NAME", name)
    assert errors.install_command(extra) == expected
