"""``[trust] withdrawn``: digests that settings name are used by nothing of Satchel."""

import logging
import os
import threading
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path

import pytest

from satchel import Options, Policy, Satchel, allow
from satchel.errors import ConfigError, SkillError
from satchel.model import Job, Outcome
from satchel.protocols import Verifier
from satchel.runtime._inputs import OpenedInputs
from satchel.runtime._verifiers import renewed_verifier
from satchel_install._lock import parse_lock
from tests.functional.library import run
from tests.functional.serving import serving
from tests.install.conftest import PACK, Upstream
from tests.install.oci.test_servers import until
from tests.install.test_verified_servers import asked, loaded

pytestmark = pytest.mark.row("U16", "N10")
WORSE = "sha256:" + "0" * 64


@pytest.fixture
def own(verifying: Path) -> Path:
    """The user's own settings, which withdraw nothing yet."""
    verifying.write_text("")
    return verifying


def withdraw(file: Path, *rows: str, before: str = "") -> None:
    """Write settings that name these."""
    lines = "".join(f"  {row!r},\n".replace("'", '"') for row in rows)
    file.write_text(f"{before}[trust]\nwithdrawn = [\n{lines}]\n")


def of_lock(project: Path, name: str = "pdf") -> str:
    """Return the digest that satchel.lock has of a skill."""
    lock = parse_lock((project / "satchel.lock").read_bytes(), "satchel.lock")
    return lock.skills[name].digest


def of_file(file: Path) -> str:
    return f"sha256:{sha256(file.read_bytes()).hexdigest()}"


@pytest.fixture
def packs(project: Path) -> Path:
    """Two packs in a folder, of which nothing is locked."""
    for name in ("pdf", "sql"):
        folder = project / "packs" / name
        (folder / "scripts").mkdir(parents=True)
        (folder / "SKILL.md").write_text(PACK.format(name))
        (folder / "scripts/run.py").write_text(f"print('ran {name}')\n")
    return project / "packs"


def tree_of(folder: Path, name: str) -> str:
    with Satchel(folder, sinks=[]) as skills:
        return skills.registry.digest(skills.registry.descriptor(name))


WHICH: list[Callable[[Path], str]] = [
    lambda packs: tree_of(packs, "pdf"),
    lambda packs: tree_of(packs, "pdf").upper(),
    lambda packs: of_file(packs / "pdf/SKILL.md"),
    lambda packs: of_file(packs / "pdf/scripts/run.py"),
]


@pytest.mark.parametrize("which", WHICH, ids=["pack", "upper", "skill", "script"])
def test_a_skill_of_a_folder_is_refused(
    own: Path, packs: Path, which: Callable[[Path], str]
) -> None:
    withdraw(own, f"{which(packs)} It writes keys into its log.")

    with Satchel(packs, sinks=[]) as skills:
        assert [one.id for one in skills.catalog.entries] == ["sql"]
        with pytest.raises(SkillError) as caught:
            skills.load("pdf")
        answer = str(skills.session().call("load_skill", {"skill_id": "pdf"}))
        file = {"skill_id": "pdf", "path": "scripts/run.py"}
        answer += str(skills.session().call("read_skill_file", file))
        assert "ran sql" in skills.load("sql", "scripts/run.py").text
        (finding,) = (f for f in skills.findings if f.code == "unvouched-skill")

    place = f"is withdrawn by {own}, line 3: It writes keys into its log."
    assert place in str(caught.value)
    assert place in finding.message
    assert str(own) not in answer
    assert "ran pdf" not in answer


def test_a_list_in_a_file_counts(own: Path, packs: Path) -> None:
    text = f"# Of 3 March.\n\n{WORSE}\n{tree_of(packs, 'pdf')}   It leaks.\r\n"
    (own.parent / "withdrawn.txt").write_text(text)
    withdraw(own, "withdrawn.txt")

    with Satchel(packs, sinks=[]) as skills, pytest.raises(SkillError) as caught:
        skills.load("pdf")

    place = f"withdrawn by {own.parent / 'withdrawn.txt'}, line 4: It leaks."
    assert place in str(caught.value)


def test_what_was_loaded_is_refused_at_the_next_refresh(own: Path, packs: Path) -> None:
    digest = tree_of(packs, "pdf")
    jobs: list[Job] = []

    class Runner:
        def run(self, job: Job) -> Outcome:
            jobs.append(job)
            raise NotImplementedError

    policy = Policy(allow("pdf", "script"))
    with Satchel(packs, sinks=[], policy=policy, runner=Runner()) as skills:
        chat = skills.session()
        assert "# pdf" in str(chat.call("load_skill", {"skill_id": "pdf"}))
        withdraw(own, digest)
        skills.sync()
        call = {"skill_id": "pdf", "path": "scripts/run.py"}
        answers = [chat.call("load_skill", {"skill_id": "pdf"})]
        answers += [chat.call("read_skill_file", call)]
        answers += [chat.call("run_skill_script", call)]
        assert not jobs
        assert all("unverified" in str(answer) for answer in answers[:2]), answers
        assert "ran pdf" not in str(answers)
        with pytest.raises(SkillError, match="withdrawn by"):
            skills.load("pdf")
        own.write_text("")  # as an editor may leave it for a moment
        skills.sync()
        with pytest.raises(SkillError, match="withdrawn by"):
            skills.load("pdf")
    with Satchel(packs, sinks=[]) as skills:
        assert skills.load("pdf").text


def test_no_sync_forgets_what_another_one_read(
    own: Path, packs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two syncs at once: the slower one read the settings of before."""
    digest = tree_of(packs, "pdf")
    begun, go_on = threading.Event(), threading.Event()
    first = threading.Lock()

    def slow(
        opened: OpenedInputs, environ: Mapping[str, str], before: Verifier | None
    ) -> Verifier | None:
        result = renewed_verifier(opened, environ, before)
        if first.acquire(blocking=False):
            begun.set()
            go_on.wait(2)
        return result

    monkeypatch.setattr("satchel.runtime._verifiers.renewed_verifier", slow)
    with Satchel(packs, sinks=[]) as skills:
        threads = [threading.Thread(target=skills.sync) for _ in range(2)]
        threads[0].start()
        begun.wait(10)
        withdraw(own, digest)
        threads[1].start()
        threads[1].join(1)
        go_on.set()
        for thread in threads:
            thread.join()
        with pytest.raises(SkillError, match="withdrawn by"):
            skills.load("pdf")


def test_damaged_settings_take_nothing_back(
    own: Path, packs: Path, caplog: pytest.LogCaptureFixture
) -> None:
    withdraw(own, tree_of(packs, "pdf"))
    with Satchel(packs, sinks=[]) as skills:
        own.write_text("[trust\n")
        with caplog.at_level(logging.WARNING, "satchel"):
            skills.sync()
        with pytest.raises(SkillError, match="withdrawn by"):
            skills.load("pdf")
    assert str(own) in caplog.text


def test_a_library_with_an_index_is_refused_too(own: Path, packs: Path) -> None:
    digest = tree_of(packs, "pdf")
    index = Options(index=str(own.parent / "index.db"))
    for _ in range(2):
        with Satchel(packs, sinks=[], options=index) as skills:
            assert len(skills) == 2
    with Satchel(packs, sinks=[], options=index) as skills:
        withdraw(own, digest)
        skills.sync()
        assert [one.id for one in skills] == ["sql"]
        assert [hit.id for hit in skills.find("pdf")] in ([], ["sql"])
        with pytest.raises(SkillError, match="withdrawn by"):
            skills.load("pdf")
        own.write_text("")
    with Satchel(packs, sinks=[], options=index) as skills:
        assert len(skills) == 2


def test_a_verifier_of_the_program_takes_nothing_back(own: Path, packs: Path) -> None:
    class Anything:
        def problem_of(self, skill: object) -> None:
            del skill

        def verify(self, skill: object, path: str, digest: str) -> str:
            del skill, path, digest
            return "the program"

    withdraw(own, tree_of(packs, "pdf"))
    options = Options(verifier=Anything())
    with Satchel(packs, sinks=[], options=options) as skills:
        assert skills.load("sql").vouched == "the program"
        with pytest.raises(SkillError, match="withdrawn by"):
            skills.load("pdf")


# --- A project may only add ---------------------------------------------------------


def test_a_project_may_withdraw_more_and_nothing_less(
    own: Path, project: Path, packs: Path
) -> None:
    withdraw(own, tree_of(packs, "pdf"))
    for named, left in (([], ["sql"]), ([tree_of(packs, "sql")], [])):
        withdraw(project / "satchel.toml", *named, before='skills = ["packs"]\n')
        with Satchel(sinks=[]) as skills:
            assert [one.id for one in skills.catalog.entries] == left


def test_a_table_for_a_project_takes_nothing_back(
    own: Path, project: Path, packs: Path
) -> None:
    more = f'[projects."{project}".trust]\nwithdrawn = ["{tree_of(packs, "sql")}"]\n'
    withdraw(own, tree_of(packs, "pdf"))
    own.write_text(own.read_text() + more)
    (project / "satchel.toml").write_text('skills = ["packs"]\n')

    with Satchel(sinks=[]) as skills:
        assert len(skills) == 0


@pytest.mark.parametrize("place", ["../list.txt", "/etc/passwd", "~/list.txt"])
def test_a_project_names_no_list_elsewhere(
    project: Path, packs: Path, place: str
) -> None:
    file = project / "satchel.toml"
    withdraw(file, place, before=f'skills = ["{packs.name}"]\n')

    with pytest.raises(ConfigError) as caught:
        Satchel(sinks=[])

    assert f"{file}:4" in str(caught.value)
    assert "outside of the project" in str(caught.value)
    assert "root:" not in str(caught.value)


@pytest.mark.parametrize(
    ("value", "line", "said"),
    [
        (f'[]\n[projects."{os.curdir}".trust]\nwithdrawn = 1', 2, "expected a list"),
        ('"x"', 2, "expected a list of strings"),
        ("[\n1]", 2, "expected a list of strings"),
        ('{ a = "b" }', 2, "expected a list of strings"),
        ('[\n"sha256:12"]', 3, "'sha256:12' is no digest"),
        (f'[\n\n"{WORSE}0"]', 4, "is no digest"),
        ('["missing.txt"]', 2, "missing.txt"),
        ('["."]', 2, "is no digest, and no file"),
        ('["https://example.com/list"]', 2, "an address is not read"),
        ('["oci://example.com/list"]', 2, "an address is not read"),
        (f'["{"a" * 5000}"]', 2, "is no digest, and no file"),
        ('[""]', 2, "is no digest, and no file"),
    ],
)
def test_bad_values_are_errors_with_their_line(
    own: Path, packs: Path, value: str, line: int, said: str
) -> None:
    own.write_text(f"[trust]\nwithdrawn = {value}\n")

    with pytest.raises(ConfigError) as caught:
        Satchel(packs, sinks=[])

    assert f"{own}:{line}: " in str(caught.value)
    assert said in str(caught.value)


def test_a_list_with_a_bad_line_is_no_shorter_one(own: Path, packs: Path) -> None:
    file = own.parent / "withdrawn.txt"
    file.write_text(f"{WORSE} Bad.\nsha1:{'0' * 40}\n")
    withdraw(own, "withdrawn.txt")

    result = run("list", str(packs))

    assert result.exit_code != 0
    assert f"{file}:2: 'sha1:" in result.stderr


# --- Installed skills ---------------------------------------------------------------


def test_nobody_adds_it(own: Path, project: Path, upstream: Upstream) -> None:
    assert run("add", upstream.address, "--skill", "sql-read").exit_code == 0
    digest = of_lock(project, "sql-read")
    assert run("remove", "sql-read").exit_code == 0
    withdraw(own, f"{digest} It leaks.")

    named = run("add", upstream.address, "--skill", "sql-read")
    assert named.exit_code == 1, named.stderr
    assert f"{digest} is withdrawn by {own}, line 3: It leaks." in named.stderr
    assert not (project / "skills/sql-read").exists()
    whole = run("add", upstream.address)
    assert whole.exit_code == 0
    assert "sql-read is left out" in whole.stderr
    assert (project / "skills/pdf").is_dir()


@pytest.mark.parametrize("frozen", [True, False])
def test_nothing_syncs_it(
    own: Path, project: Path, upstream: Upstream, *, frozen: bool
) -> None:
    assert run("add", upstream.address).exit_code == 0
    digest = of_lock(project)
    withdraw(own, f"{digest} It leaks.")

    synced = run("sync", *["--frozen"] * frozen)
    assert synced.exit_code == 1
    assert f"{digest} is withdrawn by {own}, line 3: It leaks." in synced.stderr
    upstream.commit({"skills/pdf/SKILL.md": PACK.format("pdf") + "Repaired.\n"})
    assert run("sync", "--upgrade").exit_code == 0
    assert run("sync", "--frozen").exit_code == 0


def test_what_is_withdrawn_can_be_removed(
    own: Path, project: Path, upstream: Upstream
) -> None:
    for name in ("sql-read", "form"):
        assert run("add", upstream.address, "--skill", name).exit_code == 0
    withdraw(own, of_lock(project, "form"), of_lock(project, "sql-read"))

    removed = run("remove", "form")

    assert removed.exit_code == 0, removed.stderr
    assert not (project / "skills/form").exists()
    assert "warning: sql-read: " in removed.stderr


def test_a_project_withdraws_what_it_has(project: Path, upstream: Upstream) -> None:
    assert run("add", upstream.address, "--skill", "form").exit_code == 0
    file = project / "satchel.toml"
    digest = of_lock(project, "form")
    file.write_text(file.read_text() + f'[trust]\nwithdrawn = ["{digest}"]\n')

    assert f"{digest} is withdrawn by {file}, line 4" in run("sync").stderr
    verified = run("verify")
    assert verified.exit_code == 1
    assert f"form: {digest} is withdrawn by {file}" in verified.stdout


def test_verify_says_so_of_releases_and_packs(own: Path, packs: Path) -> None:
    assert run("build", "dist", str(packs)).exit_code == 0
    assert run("verify", "dist").exit_code == 0
    withdraw(own, f"{tree_of(packs, 'pdf')} It leaks.")

    verified = run("verify", "dist")

    assert verified.exit_code == 1
    assert "pdf  failed" in verified.stdout
    assert "It leaks." in verified.stdout


def test_a_release_is_withdrawn_as_a_whole(own: Path, packs: Path) -> None:
    release = run("build", "dist", str(packs)).stdout.strip()
    withdraw(own, release)

    with Satchel("dist", sinks=[]) as skills:
        assert len(skills) == 0
        with pytest.raises(SkillError, match="withdrawn by"):
            skills.load("sql")


@pytest.mark.slow
def test_a_running_server_takes_it_at_its_next_refresh(
    own: Path, project: Path, packs: Path
) -> None:
    digest = tree_of(packs, "pdf")
    with serving("packs", "--refresh", "1", cwd=project) as served:
        assert asked(f"{served.url}/v1/skills/pdf")[0] == 200
        assert "# pdf" in loaded(served.url, "load_skill", skill_id="pdf")
        withdraw(own, f"{digest} It leaks.")
        until(lambda: asked(f"{served.url}/v1/skills/pdf")[0] >= 400)
        status, text, _ = asked(f"{served.url}/v1/skills/pdf/files/scripts/run.py")
        text += loaded(served.url, "load_skill", skill_id="pdf")
        assert status >= 400
        assert "# pdf" not in text
        assert "ran pdf" not in text
        assert str(own) not in text, text
        assert asked(f"{served.url}/v1/skills/sql")[0] == 200
