"""The legacy path: what is read, what is refused, and that it goes."""

import inspect
import warnings
from importlib.metadata import version
from pathlib import Path

import pytest

from satchel import resolve_role_prompt
from satchel.errors import InvalidRoleError, TemplateError, TemplateNotFoundError
from satchel.model import Limits
from satchel_compat import RoleResolver, _role as deprecation, render_role_prompt
from satchel_compat._role import DEPRECATED_IN, REMOVED_IN, OncePerKey
from tests.unit.compat.templates import write_template

quiet = pytest.mark.filterwarnings("ignore:role ")


@pytest.mark.row("C21", "C54")
@pytest.mark.parametrize(
    ("data", "text", "codes"),
    [
        (b"\xef\xbb\xbfYou.\r\nTest\rall.\n", "You.\nTest\nall.\n", []),
        ("Grüße".encode("cp1252"), "Grüße", ["not-utf8"]),
        ("Ja".encode("utf-16"), "Ja", ["not-utf8"]),
        (b"", "", []),
    ],
    ids=["mark and line ends", "windows", "utf-16", "empty"],
)
@quiet
def test_a_template_is_text_whatever_wrote_it(
    data: bytes, text: str, codes: list[str], tmp_path: Path
) -> None:
    file = write_template(tmp_path, "qa", data)

    resolved = resolve_role_prompt("qa", tmp_path)

    assert (resolved.source, resolved.body) == ("legacy", text)
    results = [f for f in resolved.findings if f.code != "legacy-template"]
    assert [f.code for f in results] == codes
    assert all(f.path == str(file) for f in results)


@pytest.mark.row("G24", "C21")
@pytest.mark.parametrize("kind", ["file", "folder", "binary", "large", "is a folder"])
def test_what_is_no_template_is_refused_and_reported(kind: str, tmp_path: Path) -> None:
    """A link out of the folder above all; the next in order is taken."""
    secret = tmp_path / "secret"
    (secret / "qa").mkdir(parents=True)
    (secret / "qa/system_prompt.md").write_text("secret")
    templates = tmp_path / "templates"
    place = templates / "roles" / "qa"
    place.parent.mkdir(parents=True)
    if kind == "folder":
        place.symlink_to(secret / "qa")
    else:
        place.mkdir()
        file = place / "system_prompt.md"
        match kind:
            case "file":
                file.symlink_to(secret / "qa/system_prompt.md")
            case "is a folder":
                file.mkdir()
            case _:
                file.write_bytes(b"\0" if kind == "binary" else b"x" * 2000)

    resolved = resolve_role_prompt("qa", templates, limits=Limits(skill_md_bytes=1000))

    assert resolved.body == "You are a qa specialist."
    assert [(f.code, f.severity) for f in resolved.findings] == [
        ("template-unusable", "error")
    ]
    assert resolved.findings[0].path == f"{templates}/roles/qa/system_prompt.md"
    if kind == "large":
        assert "skill_md_bytes = 1,000" in resolved.findings[0].message


@pytest.mark.row("C54", "E17")
def test_the_renderer_alone(tmp_path: Path) -> None:
    write_template(tmp_path, "qa", "{{A}}!`echo 1`")
    write_template(tmp_path, "bin", b"\0")
    roles = tmp_path / "roles"

    assert render_role_prompt("qa", {"A": "a"}, templates_dir=roles) == "a!`echo 1`"
    text = render_role_prompt("qa", {}, templates_dir=roles, shell=True)  # noqa: S604
    assert text == "{{A}}1"
    with pytest.raises(TemplateNotFoundError, match=r"vp/system_prompt\.md") as caught:
        render_role_prompt("vp", {}, templates_dir=str(roles))
    assert isinstance(caught.value, FileNotFoundError)
    with pytest.raises(TemplateError, match="not text"):
        render_role_prompt("bin", {}, templates_dir=roles)
    with pytest.raises(InvalidRoleError):
        render_role_prompt("../x", {}, templates_dir=roles)


@pytest.mark.row("G24", "E17")
@quiet
def test_commands_run_only_when_asked_for(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    text = f"{{{{#IF X}}}}!`never`{{{{/IF}}}}!`touch {trap}`!`echo {{{{A}}}}`"
    file = write_template(tmp_path, "qa", text)

    left = resolve_role_prompt("qa", tmp_path, context={"A": "a"})
    assert not trap.exists()
    values = {"A": "$(touch x)"}
    run = resolve_role_prompt("qa", tmp_path, context=values, shell=True)  # noqa: S604

    assert left.body == f"!`touch {trap}`!`echo a`"
    expected = left.findings[0]
    assert (expected.code, expected.path) == ("template-command", str(file))
    assert "and 1 more" in expected.message
    assert trap.exists()
    assert run.body == "$(touch x)"
    assert [f.code for f in run.findings] == ["legacy-template"]


@pytest.mark.row("C21", "E01")
@quiet
def test_what_a_template_hides_is_reported_and_stays(tmp_path: Path) -> None:
    """Also behind a link to the whole folder, which the caller has named."""
    text = "Test.\nAll\u200b of \u202eit.\n"
    write_template(tmp_path / "shared", "qa", text)
    (tmp_path / "roles").symlink_to(tmp_path / "shared/roles")
    resolved = resolve_role_prompt("qa", tmp_path)

    assert resolved.body == text
    hidden = [f for f in resolved.findings if f.code == "hidden-text"]
    file = f"{tmp_path}/roles/qa/system_prompt.md"
    assert {(f.path, f.line) for f in hidden} == {(file, 2)}


@pytest.mark.row("C21")
@quiet
def test_a_renderer_may_be_given(tmp_path: Path) -> None:
    """It is called as the earlier system's is, with the folder of roles."""
    seen: list[object] = []

    def render(role: str, context: dict[str, str], /, *, templates_dir: Path) -> str:
        seen.append((role, context, templates_dir))
        return "mine !`echo`"

    resolved = resolve_role_prompt(
        "qa", tmp_path, context={"A": 1, "B": None}, legacy_renderer=render
    )

    assert (resolved.source, resolved.body) == ("legacy", "mine !`echo`")
    assert seen == [("qa", {"A": "1", "B": ""}, tmp_path / "roles")]


class MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.row("C21", "C22")
@pytest.mark.parametrize(
    ("result", "message"),
    [
        (None, "returned NoneType, not text"),
        (b"bytes", "returned bytes, not text"),
        (ValueError("no\x1b[31m luck"), "raised ValueError: no"),
        (MuteError(), "raised MuteError; it was"),
        (ValueError("x" * 100_000), "raised ValueError: xxx"),
    ],
    ids=["none", "bytes", "error", "mute", "long"],
)
def test_a_renderer_that_fails_is_passed_over(
    result: object, message: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "roles").mkdir()

    def render(role: str, context: dict[str, str], /, *, templates_dir: Path) -> object:
        if isinstance(result, Exception):
            raise result
        return result

    resolved = resolve_role_prompt("qa", tmp_path, legacy_renderer=render)

    assert resolved.body == "You are a qa specialist."
    (finding,) = resolved.findings
    assert (finding.code, finding.severity) == ("renderer-failed", "warning")
    assert finding.message.startswith(f"the legacy renderer {message}")
    assert len(finding.message) < 1_000
    assert len(caplog.messages) == 1
    assert "\x1b" not in caplog.text


@pytest.mark.row("C55")
def test_the_warning_is_given_once_a_role_at_the_callers_line(tmp_path: Path) -> None:
    for role in ("qa", "vp"):
        write_template(tmp_path, role, "Text.")
    resolver = RoleResolver(tmp_path)

    with warnings.catch_warnings(record=True, action="always") as expected:
        for _ in range(3):
            resolve_role_prompt("qa", tmp_path)
            resolver.resolve("vp")
        line = inspect.currentframe().f_lineno - 2  # type: ignore[union-attr]

    assert [(item.filename, item.lineno) for item in expected] == [
        (__file__, line),
        (__file__, line + 1),
    ]
    assert {entry.category for entry in expected} == {DeprecationWarning}
    assert str(expected[0].message) == (
        "role 'qa': a legacy template is used: deprecated since satchel 0.1, and no "
        "longer read from 0.3 on; make a pack of it: "
        f"satchel convert {tmp_path}/roles/qa"
    )


@pytest.mark.row("C55")
def test_a_warning_that_is_an_error_is_one_every_time(tmp_path: Path) -> None:
    write_template(tmp_path, "qa", "Text.")

    for _ in range(2):
        with (
            warnings.catch_warnings(action="error"),
            pytest.raises(DeprecationWarning),
        ):
            resolve_role_prompt("qa", tmp_path)


@pytest.mark.row("C55")
def test_templates_go_two_minor_versions_later_and_not_before() -> None:
    """In the version named, this fails: then the legacy path is removed."""
    now = tuple(map(int, version("satchel").split(".")[:2]))

    assert (DEPRECATED_IN[0], DEPRECATED_IN[1] + 2) == REMOVED_IN
    assert DEPRECATED_IN <= now < REMOVED_IN


def test_once_is_once_unless_it_failed() -> None:
    done: list[str] = []

    def fail() -> None:
        raise OSError

    once = OncePerKey()
    with pytest.raises(OSError):  # noqa: PT011 - any
        once.do("a", fail)
    for _ in range(2):
        once.do("a", lambda: done.append("a"))
        once.do("b", lambda: done.append("b"))

    assert done == ["a", "b"]


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A message may hold what is new in every call, such as a number of a request."""
    monkeypatch.setattr(deprecation, "MAX_KEPT", 2)
    done: list[int] = []
    once = OncePerKey()
    for key in (1, 2, 3, 3, 2, 1):
        once.do(key, lambda key=key: done.append(key))  # type: ignore[misc]

    assert done == [1, 2, 3, 1]
