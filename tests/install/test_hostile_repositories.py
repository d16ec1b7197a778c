"""Repositories that want more than to be read: each leaves all else as it was.

Trees are written object by object, since git itself would refuse to make most of them.
"""

import os
import zlib
from collections.abc import Callable, Iterable
from hashlib import sha1
from pathlib import Path

import pytest

from tests.functional.library import run
from tests.install.conftest import PACK, Upstream, check_untouched

GOOD = PACK.format("good").encode()
FILE, LINK, TREE, SUBMODULE, PROGRAM = (
    *("100644", "120000", "40000", "160000", "100755"),
)


class Objects:
    """Writes objects of git as they are given, whatever they say."""

    def __init__(self, upstream: Upstream, canary: Path) -> None:
        self.upstream = upstream
        self.canary = canary

    def write(self, kind: str, data: bytes) -> str:
        """Write one object, and return its name."""
        whole = f"{kind} {len(data)}\0".encode() + data
        name = sha1(whole, usedforsecurity=False).hexdigest()
        file = self.upstream.folder / ".git/objects" / name[:2] / name[2:]
        if not file.exists():
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(zlib.compress(whole, 1))
            file.chmod(0o444)
        return name

    def blob(self, data: bytes) -> str:
        return self.write("blob", data)

    def tree(self, rows: Iterable[tuple[str, bytes, str]]) -> str:
        """Write a tree of mode, name and object, in the order that is given."""
        data = b"".join(
            mode.encode() + b" " + name + b"\0" + bytes.fromhex(of)
            for mode, name, of in rows
        )
        return self.write("tree", data)

    def pack(self, *more: tuple[str, bytes, str]) -> str:
        """Write a good pack with more in it."""
        return self.tree([(FILE, b"SKILL.md", self.blob(GOOD)), *more])

    def commit(self, tree: str, message: bytes = b"x") -> None:
        """Let the branch lead to a commit of a tree."""
        who = b"a <a@example.com> 1700000000 +0000"
        data = b"tree " + tree.encode() + b"\nauthor " + who + b"\ncommitter " + who
        name = self.write("commit", data + b"\n\n" + message + b"\n")
        main = self.upstream.folder / ".git/refs/heads/main"
        main.write_text(f"{name}\n")

    def skill(self, *more: tuple[str, bytes, str]) -> None:
        """Commit ``skills/good`` with more in it."""
        skills = self.tree([(TREE, b"good", self.pack(*more))])
        self.commit(self.tree([(TREE, b"skills", skills)]))


def named(name: bytes) -> Callable[[Objects], None]:
    """Return what makes a pack with a file of a name."""
    return lambda git: git.skill((FILE, name, git.blob(b"x\n")))


def in_folder(name: bytes) -> Callable[[Objects], None]:
    """Return what makes a pack in a folder of a name, whose file is also there."""

    def make(git: Objects) -> None:
        git.commit(git.tree([(TREE, name, git.pack())]))

    return make


def linked(name: bytes, target: bytes) -> Callable[[Objects], None]:
    """Return what makes a pack with a link."""
    return lambda git: git.skill((LINK, name, git.blob(target)))


def called(skill_id: str) -> Callable[[Objects], None]:
    """Return what makes a pack that calls itself by a name."""

    def make(git: Objects) -> None:
        text = f"---\nname: {skill_id}\ndescription: X.\n---\nX\n"
        pack = git.tree([(FILE, b"SKILL.md", git.blob(text.encode()))])
        git.commit(git.tree([(TREE, b"a", pack)]))

    return make


def skill_link(git: Objects) -> None:
    folder = git.tree([(LINK, b"SKILL.md", git.blob(b"../../canary/secret"))])
    git.commit(git.tree([(TREE, b"a", folder)]))


def skill_folder(git: Objects) -> None:
    folder = git.tree([(TREE, b"SKILL.md", git.pack())])
    git.commit(git.tree([(TREE, b"a", folder)]))


def submodule(git: Objects) -> None:
    modules = git.blob(b'[submodule "a"]\n\tpath = a\n\turl = ext::sh -c touch% ran\n')
    rows = [(FILE, b".gitmodules", modules), (SUBMODULE, b"a", "1" * 40)]
    git.commit(git.tree([*rows, (TREE, b"good", git.pack())]))


def hooks(git: Objects) -> None:
    """In the repository itself, and as files of the commit."""
    for name in ("post-checkout", "pre-receive", "post-upload-pack", "update"):
        hook = git.upstream.folder / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {git.canary}/ran\n")
        hook.chmod(0o755)
    inner = git.tree([(PROGRAM, b"post-checkout", git.blob(b"#!/bin/sh\ntouch ran\n"))])
    rows = [(TREE, b".git", git.tree([(TREE, b"hooks", inner)]))]
    git.commit(git.tree([*rows, (TREE, b"good", git.pack())]))


def filters(git: Objects) -> None:
    attributes = b"* filter=evil ident export-subst text eol=crlf\n"
    git.upstream.git("config", "filter.evil.smudge", f"touch {git.canary}/ran")
    rows = (FILE, b".gitattributes", git.blob(attributes))
    git.skill(rows, (FILE, b"x.md", git.blob(b"$Id$ $Format:%H$\n")))


def served_settings(git: Objects) -> None:
    git.skill()
    for key in ("core.fsmonitor", "core.sshCommand", "uploadpack.packObjectsHook"):
        git.upstream.git("config", key, f"touch {git.canary}/ran")


def twice(git: Objects) -> None:
    good = git.blob(GOOD)
    other = git.blob(PACK.format("good").encode() + b"Other.\n")
    pack = git.tree([(FILE, b"SKILL.md", good), (FILE, b"SKILL.md", other)])
    git.commit(git.tree([(TREE, b"a", pack)]))


def file_and_folder(git: Objects) -> None:
    inner = git.tree([(FILE, b"y", git.blob(b"y"))])
    git.skill((FILE, b"x", git.blob(b"x")), (TREE, b"x", inner))


def cases(git: Objects) -> None:
    git.skill((FILE, b"A.md", git.blob(b"A")), (FILE, b"a.md", git.blob(b"a")))


def forms(git: Objects) -> None:
    names = "\u00e9.md".encode(), "e\u0301.md".encode()
    git.skill(*((FILE, name, git.blob(name)) for name in sorted(names)))


def deep(git: Objects) -> None:
    tree = git.tree([(FILE, b"x", git.blob(b"x"))])
    for _ in range(300):
        tree = git.tree([(TREE, b"d", tree)])
    git.skill((TREE, b"d", tree))


def a_circle_of_names(git: Objects) -> None:
    """Equal subtrees many times over: 16 to the power of 6 files from 7 objects."""
    tree = git.tree([(FILE, b"x", git.blob(b"x"))])
    for _ in range(4):
        tree = git.tree([(TREE, b"%02d" % number, tree) for number in range(16)])
    git.skill((TREE, b"d", tree))


def many(git: Objects) -> None:
    blob = git.blob(b"x")
    git.skill(*((FILE, b"f%05d" % number, blob) for number in range(3_000)))


def huge(git: Objects) -> None:
    git.skill((FILE, b"x.bin", git.blob(b"\0" * 60_000_000)))


def programs(git: Objects) -> None:
    git.skill(
        (PROGRAM, b"run", git.blob(b"#!/bin/sh\n")), ("104755", b"s", git.blob(b"x"))
    )


def odd_modes(git: Objects) -> None:
    git.skill(("140000", b"s", git.blob(b"x")), ("0100644", b"z", git.blob(b"x")))


def two_of_one_name(git: Objects) -> None:
    other = git.blob(PACK.format("good").encode() + b"Other.\n")
    rows = [
        (TREE, b"a", git.pack()),
        (TREE, b"b", git.tree([(FILE, b"SKILL.md", other)])),
    ]
    git.commit(git.tree(rows))


def missing_object(git: Objects) -> None:
    git.skill((FILE, b"x.md", "2" * 40))


def a_tag_of_a_tag(git: Objects) -> None:
    git.skill()
    git.upstream.git("tag", "-a", "one", "-m", "x")
    git.upstream.git("tag", "-a", "two", "one", "-m", "x")
    git.upstream.git("symbolic-ref", "HEAD", "refs/tags/two")


def no_head(git: Objects) -> None:
    git.skill()
    git.upstream.git("symbolic-ref", "HEAD", "refs/heads/nowhere")


def empty(git: Objects) -> None:
    git.upstream.git("update-ref", "-d", "refs/heads/main")


def alternates(git: Objects) -> None:
    git.skill()
    file = git.upstream.folder / ".git/objects/info/alternates"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"{git.canary}\n")


def no_repository(git: Objects) -> None:
    (git.upstream.folder / ".git/HEAD").write_text("x\n")


def a_lock_of_its_own(git: Objects) -> None:
    rows = [
        (FILE, b"satchel.lock", git.blob(b"{}")),
        (FILE, b"satchel.toml", git.blob(b"[skills]\nx = 1\n")),
        (TREE, b"skills", git.tree([(TREE, b"good", git.pack())])),
    ]
    git.commit(git.tree(rows))


def packs_called(*names: str) -> Callable[[Objects], None]:
    """Return what makes packs of these names."""

    def make(git: Objects) -> None:
        rows: list[tuple[str, bytes, str]] = []
        for number, name in enumerate(names):
            skill = git.blob(PACK.format(name).encode())
            pack = git.tree([(FILE, b"SKILL.md", skill)])
            rows.append((TREE, b"%d" % number, pack))
        git.commit(git.tree(rows))

    return make


def two_of_no_text(git: Objects) -> None:
    blobs = git.blob(b"1"), git.blob(b"2")
    git.skill((FILE, b"a\xfe", blobs[0]), (FILE, b"a\xff", blobs[1]))


def fetched_from_elsewhere(git: Objects) -> None:
    """The server lacks an object, and its settings say how to get it."""
    git.skill((FILE, b"x.md", "2" * 40))
    for key, value in {
        "core.repositoryformatversion": "1",
        "extensions.partialClone": "evil",
        "remote.evil.url": f"file://{git.canary}",
        "remote.evil.promisor": "true",
        "remote.evil.uploadpack": f"touch {git.canary}/ran;false",
    }.items():
        git.upstream.git("config", key, value)


def replaced(git: Objects) -> None:
    git.skill()
    old = git.upstream.git("rev-parse", "main:skills/good/SKILL.md")
    new = git.blob(GOOD + b"canary-secret\n")
    git.upstream.git("update-ref", f"refs/replace/{old}", new)


def shallow(git: Objects) -> None:
    git.skill()
    commit = git.upstream.git("rev-parse", "main")
    (git.upstream.folder / ".git/shallow").write_text(f"{commit}\n")


def packed(*names: str) -> Callable[[Objects], None]:
    """Return what makes a repository with packed refs of these names."""

    def make(git: Objects) -> None:
        git.skill()
        commit = git.upstream.git("rev-parse", "main")
        rows = "".join(f"{commit} {name}\n" for name in (*names, "refs/heads/main"))
        file = git.upstream.folder / ".git/packed-refs"
        file.write_text(f"# pack-refs with: peeled fully-peeled sorted \n{rows}")

    return make


def refs_like_options(git: Objects) -> None:
    git.skill()
    commit = git.upstream.git("rev-parse", "main")
    for name in ("heads/--upload-pack=x", "heads/-x", "heads/HEAD", "tags/main"):
        (git.upstream.folder / ".git/refs" / name).write_text(f"{commit}\n")


def a_circle_of_refs(git: Objects) -> None:
    git.skill()
    for name, target in (("refs/heads/a", "b"), ("refs/heads/b", "a"), ("HEAD", "a")):
        git.upstream.git("symbolic-ref", name, f"refs/heads/{target}")


def head_of(revision: str) -> Callable[[Objects], None]:
    """Return what lets the head lead to an object that is no commit."""

    def make(git: Objects) -> None:
        git.skill()
        name = git.upstream.git("rev-parse", revision)
        (git.upstream.folder / ".git/HEAD").write_text(f"{name}\n")

    return make


def large_files(git: Objects) -> None:
    """A pointer of git-lfs, and where to get what it leads to."""
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 9\n"
    config = git.blob(b"[lfs]\n\turl = http://127.0.0.1:9\n")
    git.skill((FILE, b".lfsconfig", config), (FILE, b"x.bin", git.blob(pointer % 0)))


def written_over(data: bytes, size: int) -> Callable[[Objects], None]:
    """Return what puts other bytes in the place of an object."""

    def make(git: Objects) -> None:
        git.skill()
        name = git.upstream.git("rev-parse", "main:skills/good/SKILL.md")
        file = git.upstream.folder / ".git/objects" / name[:2] / name[2:]
        file.chmod(0o644)
        file.write_bytes(zlib.compress(b"blob %d\0" % size + data))

    return make


def of_another_kind(git: Objects) -> None:
    git.commit(git.tree([(TREE, b"a", git.blob(GOOD)), (TREE, b"good", git.pack())]))


def a_tree_as_a_file(git: Objects) -> None:
    git.skill((FILE, b"x", git.pack()))


def a_long_message(git: Objects) -> None:
    git.commit(git.tree([(TREE, b"good", git.pack())]), b"\x1b[2J" * 200_000)


def submodule_as_skill(git: Objects) -> None:
    url = b'[submodule "good"]\n\tpath = good\n\turl = --upload-pack=touch ran\n'
    rows = (FILE, b".gitmodules", git.blob(url)), (SUBMODULE, b"good", "1" * 40)
    git.commit(git.tree([*rows, (TREE, b"other", git.pack())]))


MANY = "a tree that is many"
ATTACKS: dict[str, Callable[[Objects], None]] = {
    "a file ..": named(b".."),
    "a file .": named(b"."),
    "a file with slashes": named(b"../../canary/x"),
    "an absolute file": named(b"/satchel-canary-x"),
    "a file without a name": named(b""),
    "a backslash": named(b"..\\..\\x"),
    "a drive": named(b"C:x"),
    "a stream": named(b"x:y"),
    "a device": named(b"CON"),
    "a device with a suffix": named(b"nul.md"),
    "a blank at the end": named(b"x "),
    "a dot at the end": named(b"x."),
    "a line feed": named(b"a\nb"),
    "an escape": named(b"\x1b[2Ja"),
    "a direction": named("a\u202eb".encode()),
    "no UTF-8": named(b"\xff\xfe"),
    "a long name": named(b"x" * 300),
    "a long path": named(b"/".join([b"d" * 200] * 8)),
    ".git as a file": named(b".git"),
    ".GIT": named(b".GIT"),
    "git~1": named(b"git~1"),
    ".git with a joiner": named(".g\u200cit".encode()),
    "a secret": named(b".env"),
    "a folder ..": in_folder(b".."),
    "a folder with slashes": in_folder(b"../../canary/a"),
    "a folder .git": in_folder(b".git"),
    "a folder of an option": in_folder(b"--upload-pack=x"),
    "an id that climbs": called("../../canary/x"),
    "an absolute id": called("/satchel-canary-y"),
    "an id of dots": called('".."'),
    "an id of our own folder": called(".satchel"),
    "an id with a line feed": called('"a\\nb"'),
    "a link to a secret": linked(b"x.md", b"../../../canary/secret"),
    "an absolute link": linked(b"x.md", b"/etc/passwd"),
    "a link to a folder": linked(b"references", b"/"),
    "a link to itself": linked(b"x", b"x"),
    "SKILL.md is a link": skill_link,
    "SKILL.md is a folder": skill_folder,
    "a submodule": submodule,
    "hooks": hooks,
    "filters": filters,
    "settings of the server": served_settings,
    "one name twice": twice,
    "a file and a folder": file_and_folder,
    "two cases": cases,
    "two forms": forms,
    "300 folders deep": deep,
    MANY: a_circle_of_names,
    "3,000 files": many,
    "60 MB": huge,
    "programs": programs,
    "odd modes": odd_modes,
    "two of one name": two_of_one_name,
    "an object that is not there": missing_object,
    "a tag of a tag": a_tag_of_a_tag,
    "a head that leads nowhere": no_head,
    "nothing": empty,
    "objects elsewhere": alternates,
    "no repository": no_repository,
    "a lock of its own": a_lock_of_its_own,
    "ids of two cases": packs_called("Good", "good"),
    "ids of two forms": packs_called("\u00e9", "e\u0301"),
    "two files of no UTF-8": two_of_no_text,
    "an object from elsewhere": fetched_from_elsewhere,
    "a replaced object": replaced,
    "a shallow one": shallow,
    "packed refs that climb": packed("refs/tags/../../x"),
    "packed refs like options": packed("refs/heads/--upload-pack=x"),
    "20,000 refs": packed(*(f"refs/heads/b{n:05}" for n in range(20_000))),
    "refs like options": refs_like_options,
    "a circle of refs": a_circle_of_refs,
    "a head of a file": head_of("main:skills/good/SKILL.md"),
    "a head of a folder": head_of("main^{tree}"),
    "large files": large_files,
    "an object that lies of its size": written_over(GOOD, 999_999_999),
    "an object of other bytes": written_over(GOOD.replace(b"#", b"!"), len(GOOD)),
    "a folder that is a file": of_another_kind,
    "a file that is a folder": a_tree_as_a_file,
    "a long message": a_long_message,
    "a submodule as a skill": submodule_as_skill,
}


@pytest.mark.parametrize(
    "attack",
    [
        pytest.param(attack, marks=[pytest.mark.slow] * (attack == MANY))
        for attack in ATTACKS
    ],
)
def test_a_hostile_repository_does_nothing(
    attack: str, project: Path, tmp_path: Path, canary: Path
) -> None:
    upstream = Upstream(tmp_path / "hostile")
    git = Objects(upstream, canary)
    git.commit(git.tree([(FILE, b"README.md", git.blob(b"x"))]))
    ATTACKS[attack](git)

    result = run("add", upstream.address)

    assert result.exit_code in (0, 1, 2)
    assert "a fault of satchel's own" not in result.stderr
    assert "Traceback" not in result.stderr
    assert "\x1b" not in result.stderr + result.stdout
    check_untouched(project, tmp_path, canary)
    again = run("sync", "--frozen") if result.exit_code == 0 else result
    assert again.exit_code == result.exit_code, again.stderr


@pytest.mark.parametrize(
    "source",
    [
        "ext::sh -c touch% ran",
        "--upload-pack=touch ran",
        "-oProxyCommand=touch ran",
        "ssh://-oProxyCommand=touch ran/x",
        "ssh://-oProxyCommand=touch/x.git",
        "git@-oProxyCommand=touch:x.git",
        "file://-x/y.git",
        "https://user:canary-secret@127.0.0.1:9/x.git",
        "https://canary-secret@127.0.0.1:9/x.git",
        "https://127.0.0.1:9/x.git#$(touch ran)",
        "git+ssh://-x/y",
        "fd::17",
        "owner/repo@--upload-pack=x",
        "owner/../../x",
    ],
)
def test_an_address_runs_nothing_and_tells_no_secret(
    source: str, project: Path
) -> None:
    result = run("add", source)

    assert result.exit_code in (1, 2)
    assert "canary-secret" not in result.stderr + result.stdout
    assert "a fault of satchel's own" not in result.stderr
    assert [*project.iterdir()] == []


@pytest.mark.parametrize("rev", ["--upload-pack=x", "-x", "a..b", "a b", "HEAD:x", ""])
def test_a_revision_is_no_option(rev: str, project: Path, upstream: Upstream) -> None:
    result = run("add", upstream.address, f"--rev={rev}")

    assert result.exit_code == (0 if not rev else 2)
    assert os.path.lexists(project / "skills") == (not rev)


@pytest.mark.parametrize("names", [("Good", "good"), ("\u00e9", "e\u0301")])
def test_ids_that_are_one_on_some_systems_are_named(
    names: tuple[str, str], project: Path, tmp_path: Path, canary: Path
) -> None:
    """Else the lock that is written could not be read."""
    upstream = Upstream(tmp_path / "hostile")
    packs_called(*names)(Objects(upstream, canary))

    result = run("add", upstream.address)

    assert result.exit_code == 1
    assert "on some systems this is the same as" in result.stderr
    assert [*project.iterdir()] == []
    assert run("add", upstream.address, "--skill", names[1]).exit_code == 0
    assert run("sync").exit_code == 0


def test_a_name_that_is_no_text_is_left_out_and_hides_no_other(
    project: Path, tmp_path: Path, canary: Path
) -> None:
    upstream = Upstream(tmp_path / "hostile")
    two_of_no_text(Objects(upstream, canary))

    result = run("add", upstream.address)

    assert result.exit_code == 0
    assert "good/a\\xfe: warning unsafe-file-name" in result.stderr
    assert "and 1 more like it" in result.stderr
    assert [file.name for file in (project / "skills/good").iterdir()] == ["SKILL.md"]
