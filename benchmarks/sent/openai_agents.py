"""OpenAI Agents SDK: the capability ``Skills`` of its sandbox, loading on demand.

Its tool puts a skill into the sandbox, where the model reads the file with the shell:
what that second call returns, the file as it is, is counted with the first.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from agents.sandbox import Manifest, SandboxPathGrant
from agents.sandbox.capabilities import LocalDirLazySkillSource, Skills
from agents.sandbox.entries import LocalDir
from agents.sandbox.sandboxes import UnixLocalSandboxClient

from benchmarks.sent._texts import sent

if TYPE_CHECKING:
    from benchmarks.sent._texts import Sent

PEER = "openai_agents"
NAME = "sandbox Skills"


async def send(folder: str, skill: str) -> Sent:
    """Bind the capability to a sandbox on this machine, and load in it."""
    grant = SandboxPathGrant(path=folder, read_only=True)
    manifest = Manifest(extra_path_grants=(grant,))
    source = LocalDirLazySkillSource(source=LocalDir(src=Path(folder)))
    skills = Skills(lazy_from=source)
    client = UnixLocalSandboxClient()
    session = await client.create(manifest=manifest)
    async with session:
        skills.bind(session)
        (tool,) = skills.tools()
        prompt = await skills.instructions(session.state.manifest) or ""
        result = await tool.run(tool.args_model(skill_name=skill))
        file = await session.read(Path(result["path"], "SKILL.md"))
        text = file.read()
    await client.delete(session)
    shown = text.decode() if isinstance(text, bytes) else text
    spec = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.params_json_schema,
    }
    return sent(NAME, prompt, [spec], f"{json.dumps(result)}\n{shown}")
