"""Building: what is part of a release, what is not, and what refuses it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from satchel import Options, Satchel, sources
from satchel.errors import (
    LimitExceededError,
    ReferenceNotAllowedError,
    RefusedReleaseError,
    SourceUnavailableError,
)
from satchel.files import digest_bytes, tree_digest
from satchel.model import Limits, Resource
from satchel.sources import memory
from satchel_store.archives import tar_gz
from satchel_store.release import INDEX_V2, BuiltRelease, build_release, parse_release
from tests.fakes import FakeSource, pack
from tests.unit.release.packs import (
    PACKS,
    Packs,
    built,
    files_of,
    nowhere,
    release_of,
    write,
)


def document(files: dict[str, bytes]) -> dict[str, Any]:
    """Return release.json."""
    parsed: dict[str, Any] = json.loads(files["release.json"])
    return parsed


def refused(skills: Satchel) -> str:
    """Return all the reasons for which no release is built; nothing is."""
    with skills, pytest.raises(RefusedReleaseError) as caught:
        build_release(skills, nowhere)
    return "\n".join(caught.value.reasons)


def allowed(skills: Satchel) -> BuiltRelease:
    with skills:
        return build_release(skills, nowhere, allow_findings=True)


@pytest.mark.row("R25")
def test_release_json_lists_every_other_file_with_its_digest_and_size() -> None:
    """So the id, the tree digest of every file, can be computed from it alone."""
    files = built(PACKS)
    every = [Resource(p, digest_bytes(data), len(data)) for p, data in files.items()]
    assert release_of(PACKS).id == tree_digest(every)
    text = document(files)
    listed = {
        f"skills/{skill['id']}/{item['path']}": (item["digest"], item["size"])
        for skill in text["skills"]
        for item in skill["resources"]
    }
    listed |= {item["path"]: (item["digest"], item["size"]) for item in text["files"]}

    assert listed == {
        path: (digest_bytes(data), len(data))
        for path, data in files.items()
        if path != "release.json"
    }


def test_files_are_byte_for_byte_those_of_the_packs() -> None:
    """Packs of more than a file have an archive of just these files as well."""
    files = built(PACKS)
    listed = {name: dict(inner) for name, inner in PACKS.items()}
    del listed["declared"]["unlisted.md"]
    expected = {
        f"skills/{name}/{path}": data
        for name, inner in listed.items()
        for path, data in inner.items()
    }
    for name in ("declared", "files"):
        expected[f"archives/{name}.tar.gz"] = tar_gz(listed[name].items())

    assert files == expected | {p: files[p] for p in (INDEX_V2, "release.json")}


def test_hidden_and_deprecated_skills_are_part_of_it_and_say_so() -> None:
    """A conversation may know them; an installer is offered no deprecated one."""
    with Satchel(memory(PACKS)) as skills:
        made = build_release(skills, nowhere)
    text = {skill["id"]: skill for skill in document(built(PACKS))["skills"]}

    assert text["hidden"]["model_invocable"] is False
    assert text["retired"]["status"] == "deprecated"
    assert text["retired"]["replaced_by"] == "alone"
    assert "model_invocable" not in text["alone"]
    assert "Odd_Name" in text, "a name that no index takes is a warning"
    found = [(finding.code, finding.severity) for finding in made.findings]
    assert ("not-publishable", "warning") in found


def test_it_has_no_path_and_no_label(tmp_path: Path) -> None:
    """The same packs have the same release wherever they are, under whatever name."""
    folder = write(PACKS, tmp_path / "here")
    made = [
        files_of(Satchel(source))
        for source in (sources.folder(folder), sources.folder(folder, label="Hers"))
    ]

    assert made[0] == made[1] == built(PACKS)
    assert not any(str(tmp_path).encode() in data for data in made[0].values())


def test_the_owner_of_codeowners_is_that_of_the_release(tmp_path: Path) -> None:
    """Where it is deployed there is no such file."""
    write({"alone": PACKS["alone"]}, tmp_path / "skills")
    (tmp_path / ".git").mkdir()
    (tmp_path / "CODEOWNERS").write_text("skills/ @desk\n")
    files = files_of(Satchel(tmp_path / "skills"))

    assert document(files)["skills"][0]["owner"] == "@desk"


def test_an_id_may_differ_from_the_name() -> None:
    one, two = memory({"alone": PACKS["alone"]}), memory({"alone": PACKS["hidden"]})
    renamed = sources.renamed(two, {"hidden": "alone"})
    files = files_of(Satchel(sources.prefixed(one, "a-"), renamed))

    names = [(skill["id"], skill["name"]) for skill in document(files)["skills"]]
    assert names == [("a-alone", "alone"), ("alone", "hidden")]


def test_a_source_away_a_conflict_and_another_publishers_skill_refuse() -> None:
    source = FakeSource("team", {})
    source.failure = SourceUnavailableError("team", "timed out")
    more = {"alone": {"SKILL.md": PACKS["alone"]["SKILL.md"] + b"more\n"}}
    elsewhere = FakeSource("billing", {"a": {"SKILL.md": pack("a")}})
    elsewhere.remote = "MCP server"  # type: ignore[attr-defined]

    assert "team: error source-unavailable:" in refused(Satchel(source))
    conflict = Satchel(memory(PACKS), memory(more, label="other"))
    assert "duplicate skill 'alone'" in refused(conflict)
    reason = "error remote-skill: 'a' is on the MCP server of another publisher"
    assert reason in refused(Satchel(elsewhere))


def packs_of(*names: str, **files: bytes) -> Packs:
    """Return packs of these names, each with these files; ``__`` is a dot."""
    more = {path.replace("__", "."): data for path, data in files.items()}
    return {name: {"SKILL.md": pack(name).encode(), **more} for name in names}


BAD = {"bad": {"SKILL.md": b"no frontmatter\n"}}
LONG = "/".join(["f" * 250] * 4) + "/" + "n" * 18
REFUSED: dict[str, tuple[Packs, str]] = {
    "no frontmatter": (BAD, r"error no-(frontmatter|opening-fence)"),
    "a device's name": (packs_of("aux"), "unsafe-skill-id: 'aux': .*Windows; fix: "),
    "ids of one folder": (packs_of("pdf", "PDF"), "'pdf': some systems take it for"),
    # Composed and decomposed letters are one to macOS.
    "composed ids": (packs_of("\u00fc", "u\u0308"), "some systems take it for"),
    "files of one name": (packs_of("a", x__md=b"", X__md=b""), "colliding-file-names"),
    "a long path": (packs_of("abc", **{LONG: b""}), "error unsafe-file-name"),
    "nothing": ({}, "there is no skill to release"),
}


@pytest.mark.parametrize(("packs", "reason"), REFUSED.values(), ids=REFUSED)
def test_a_pack_in_error_refuses_with_every_reason(packs: Packs, reason: str) -> None:
    reasons = refused(Satchel(memory({**BAD, **packs} if packs else packs)))

    assert re.search(reason, reasons)
    assert not packs or re.search(REFUSED["no frontmatter"][1], reasons)


@pytest.mark.parametrize(
    ("packs", "released"),
    [
        ({**BAD, **packs_of("good")}, {"good": ["SKILL.md"]}),
        (packs_of("a", x__md=b"1", X__md=b"2"), {"a": ["SKILL.md", "X.md"]}),
        ({}, {}),
    ],
    ids=["a pack", "a file", "nothing"],
)
def test_what_is_in_error_can_be_left_out(
    packs: Packs, released: dict[str, list[str]]
) -> None:
    made = allowed(Satchel(memory(packs)))

    assert released == {
        skill.id: [resource.path for resource in skill.resources]
        for skill in made.release.skills
    }
    assert any(finding.severity == "error" for finding in made.findings)


def test_repairs_and_a_folder_without_skills_are_reported(tmp_path: Path) -> None:
    """A named folder without skills is easily a mistake."""
    repaired = "---\nname: a\ndescription: Use: this.\n---\n# Do\n"
    write({"a": {"SKILL.md": repaired.encode()}}, tmp_path / "skills")
    (tmp_path / "empty").mkdir()
    with Satchel(tmp_path / "skills", tmp_path / "empty") as skills:
        made = build_release(skills, nowhere)

    assert [(finding.severity, finding.code) for finding in made.findings] == [
        ("warning", "unquoted-colon"),
        ("warning", "no-skills"),
    ]


@pytest.mark.parametrize(
    ("skill_id", "problem"),
    [
        ("a/b", "it has a slash"),
        (".a", "it begins with a dot"),
        ("a.", "ends in a dot"),
        ("a:b", "a backslash or a colon"),
    ],
)
def test_an_id_that_is_no_folder_everywhere_is_refused(
    skill_id: str, problem: str
) -> None:
    source = sources.renamed(memory({"alone": PACKS["alone"]}), {"alone": skill_id})

    assert problem in refused(Satchel(source))


def test_a_raw_skill_stays_raw() -> None:
    raw = pack("raw").replace("---\n#", "metadata:\n  category: raw\n---\n#")
    files = built({"raw": {"SKILL.md": raw.encode()}})

    assert document(files)["skills"][0]["category"] == "raw"
    [skill] = parse_release(files["release.json"], "x").skills
    assert skill.descriptor.category == "raw"


def test_a_listed_file_that_never_was_there_is_refused() -> None:
    text = "---\nname: a\ndescription: d\nreferences: [x.md]\n---\n"
    packs = {"a": {"SKILL.md": text.encode()}}

    reasons = refused(Satchel(memory(packs)))

    assert "error listed-file-missing" in reasons
    assert "references/x.md: error reference-not-found" in reasons
    [skill] = allowed(Satchel(memory(packs))).release.skills
    assert skill.descriptor.resources == ()


@pytest.mark.parametrize(
    ("path", "content", "code", "left"),
    [
        ("SKILL.md", pack("a") + "more", "changed-since-sync", []),
        ("x.md", "xmore", "changed-since-sync", ["SKILL.md"]),
        ("x.md", None, "reference-not-found", ["SKILL.md"]),
    ],
)
def test_a_file_that_has_changed_since_the_sync_is_refused(
    path: str, content: str | None, code: str, left: list[str]
) -> None:
    source = FakeSource("team", {"a": {"SKILL.md": pack("a"), "x.md": "x"}})
    skills = Satchel(source)
    del source.packs["a"][path]
    if content is not None:
        source.packs["a"][path] = content

    assert f"team/a/{path}: error {code}" in refused(skills)
    released = allowed(skills).release.skills
    assert [file.path for skill in released for file in skill.resources] == left


def test_limits_are_those_that_the_skills_were_opened_with() -> None:
    def opened(limits: Limits) -> Satchel:
        packs = packs_of("a", x__md=b"x" * 20)
        return Satchel(memory(packs), options=Options(limits=limits))

    assert "exceed the limit file_bytes" in refused(opened(Limits(file_bytes=10)))
    with (
        opened(Limits(release_bytes=100)) as skills,
        pytest.raises(LimitExceededError, match="release_bytes"),
    ):
        build_release(skills, nowhere)


def test_what_is_switched_off_is_left_out_and_noted() -> None:
    with Satchel(memory(PACKS), disabled=["files"]) as skills:
        made = build_release(skills, nowhere)

    assert "files" not in [skill.id for skill in made.release.skills]
    notes = [finding for finding in made.findings if finding.severity == "note"]
    assert [note.message for note in notes] == ["'files' is disabled, and not released"]


@pytest.mark.row("R25", "R28", "F69")
def test_the_evals_of_a_pack_are_no_part_of_a_release() -> None:
    """Its users do not need them: no model is told of them, either."""
    files = {
        "SKILL.md": pack("a"),
        "evals/evals.json": "{}",
        "evals/files/x.csv": "1",
        "evals.md": "Kept.\n",
        "references/evals/y.md": "Kept.\n",
    }
    source = memory({"a": files})
    skills = Satchel(source)
    kept = ("references/evals/y.md", "evals.md")

    assert [entry.resources for entry in skills.catalog] == [kept]
    with pytest.raises(ReferenceNotAllowedError):
        skills.load("a", "evals/evals.json")
    released = {path for path in files_of(skills) if path.startswith("skills/a/")}
    assert released == {f"skills/a/{path}" for path in ("SKILL.md", *kept)}


@pytest.mark.row("F52", "F69")
@pytest.mark.parametrize(
    "body",
    [
        "# Do\n\nTODO: say what to do.\n",
        "# Do\n\n[Insert instructions here]\n",
        "# Do\n\nTBD\n",
    ],
)
def test_what_is_left_to_fill_in_is_not_released(body: str) -> None:
    packs: Any = {
        "draft": {"SKILL.md": pack("draft", body=body)},
        "done": {"SKILL.md": pack("done")},
    }

    reasons = refused(Satchel(memory(packs)))
    some = allowed(Satchel(memory(packs)))

    assert "left-to-fill-in" in reasons
    assert "done" not in reasons
    assert [skill.id for skill in some.release.skills] == ["done"]
    ignored = body.replace(
        "# Do\n", "# Do\n\n<!-- satchel: ignore left-to-fill-in -->\n"
    )
    packs["draft"]["SKILL.md"] = pack("draft", body=ignored)
    whole = allowed(Satchel(memory(packs)))
    assert len(whole.release.skills) == 2
