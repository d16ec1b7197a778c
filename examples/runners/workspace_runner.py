"""Run scripts of skills in a workspace of Pydantic AI, its own or one of its harness.

`BubblewrapWorkspace`, SSH, Docker, E2B and Modal of ``pydantic-ai-harness`` have the
interface of ``pydantic_ai.workspaces.Workspace``, and so are runners by this file::

    backend = LocalWorkspaceBackend(tempfile.mkdtemp())  # isolates nothing
    runner = WorkspaceRunner(lambda: BubblewrapWorkspace(Workspace(backend)))
    skills = Satchel("./skills", policy=policy, runner=runner)

The files of the skill and of the user go into the workspace, and what the script wrote
comes back. What is held is what that workspace holds.
"""

import asyncio
import mimetypes
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path, PurePosixPath
from time import monotonic
from uuid import uuid4

from pydantic_ai.workspaces import WorkspaceTimeoutError
from satchel.model import Job, Outcome, OutputFile

PROGRAMS = {".py": "python3", ".sh": "sh", ".js": "node"}
# Files, since a workspace has no stdin, and says nothing of a command that it ends.
COMMAND = 'cd "$1" && shift && exec "$@" < ../stdin > ../stdout 2> ../stderr'


class WorkspaceRunner:
    """Runs each script in a folder of its own, in a workspace that a function opens."""

    kind = "workspace of Pydantic AI"

    def __init__(self, open_workspace, *, timeout_s=60.0, output_bytes=64_000):
        self.open_workspace = open_workspace
        self.timeout_s = timeout_s
        self.output_bytes = output_bytes

    def run(self, job: Job) -> Outcome:
        # A thread of its own: the caller's may have a loop that is running.
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(asyncio.run, self._run(job)).result()

    async def _run(self, job: Job) -> Outcome:
        if problem := refused(job):
            return Outcome(ending="refused", detail=problem, runner=self.kind)
        begun = monotonic()
        workspace = self.open_workspace()
        root = f"{await workspace.working_dir()}/{uuid4().hex}"
        skill, work = f"{root}/skill", f"{root}/work"
        try:
            await upload(workspace, Path(job.pack), skill)
            before = await upload(workspace, Path(job.work), work) if job.work else {}
            await workspace.make_dir(work)
            await workspace.write_text(f"{root}/stdin", job.stdin)
            program = PROGRAMS[PurePosixPath(job.path).suffix]
            command = ["sh", "-c", COMMAND, "sh", work, program, f"{skill}/{job.path}"]
            ending, code = await self._ending(
                workspace, [*command, *job.args], root, job
            )
            to = "" if ending == "cancelled" else job.work
            files, left_out = await download(workspace, work, before, to)
            printed = [
                await self._printed(workspace, f"{root}/{name}")
                for name in ("stdout", "stderr")
            ]
        finally:
            await workspace.remove(root)
        return Outcome(
            ending=ending,
            exit_code=code,
            stdout=printed[0],
            stderr=printed[1],
            files=tuple(files),
            left_out=tuple(left_out),
            runner=self.kind,
            limits={"timeout_s": "best effort"},
            seconds=monotonic() - begun,
        )

    async def _ending(self, workspace, command, root, job):
        variables = {"SKILL_DIR": f"{root}/skill", "WORK_DIR": f"{root}/work"}
        run = workspace.run(command, env=variables, timeout=self.timeout_s)
        try:
            result = await until_cancelled(run, job)
        except WorkspaceTimeoutError:
            return "time-out", None
        return ("cancelled", None) if result is None else ("exit", result.exit_code)

    async def _printed(self, workspace, path):
        """Return what was printed, and its end alone where it is long."""
        if not await workspace.exists(path):
            return ""
        data, most = await workspace.read_bytes(path), self.output_bytes
        end = data[-most:].decode("utf-8", "replace")
        more = len(data) - most
        return f"({more:,} bytes are left out)\n{end}" if more > 0 else end


def refused(job):
    """Return why a job is not run; empty where it is."""
    script = Path(job.pack, job.path)
    if script.suffix not in PROGRAMS:
        return f"there is no interpreter for {script.suffix or script.name!r}"
    inside = Path(job.pack).resolve() / PurePosixPath("/", job.path).relative_to("/")
    if script.resolve() != inside or not script.is_file():
        return f"{job.path} is no file of the skill"
    return "an argument has a zero byte" if "\0" in "".join(job.args) else ""


async def until_cancelled(run, job):
    """Return what a command gives; None where nobody waits for it any more."""
    task = asyncio.ensure_future(run)
    while not (await asyncio.wait({task}, timeout=0.1))[0]:
        if job.cancelled.is_set():
            task.cancel()
            await asyncio.wait({task})
            return None
    return task.result()


async def upload(workspace, folder, to):
    """Copy the files of a folder; return the digest of each by its path."""
    digests = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.resolve() != folder.resolve() / name:
            digests[name] = ""  # a link, of which nothing goes in or comes back
        elif path.is_file():
            data = await asyncio.to_thread(path.read_bytes)
            await workspace.write_bytes(f"{to}/{name}", data)
            digests[name] = digest(data)
    return digests


async def download(workspace, work, before, to):
    """Write what is new or changed into the user's folder; follow no link."""
    files, folders, user = [], [work] if to else [], Path(to).resolve()
    left_out = [f"{name}: a link" for name, of in before.items() if not of]
    while folders:
        for entry in await workspace.list_dir(folders.pop()):
            name = PurePosixPath(entry.path).relative_to(work).as_posix()
            file = user / name
            try:
                is_link = await workspace.realpath(entry.path) != entry.path
                if entry.is_dir and not is_link:
                    folders.append(entry.path)
                elif is_link or file != file.resolve():
                    left_out.append(f"{name}: a link")
                elif before.get(name) != digest(
                    data := await workspace.read_bytes(entry.path)
                ):
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_bytes(data)
                    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
                    files.append(OutputFile(name, kind, len(data), digest(data)))
            except OSError as error:
                left_out.append(f"{name}: {error.strerror or error}")
    return sorted(files, key=lambda file: file.path), sorted(left_out)


def digest(data):
    return f"sha256:{sha256(data).hexdigest()}"
