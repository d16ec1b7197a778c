"""How each client is asked which skills it has: settings, arguments, and the answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tools.loaders.clients import reading
from tools.loaders.driver import Seen

if TYPE_CHECKING:
    from collections.abc import Callable

    from tools.loaders.clients.desk import Desk, Done
    from tools.loaders.clients.reading import Pairs

    Ask = Callable[[Desk], Seen]

CLAUDE = ".claude/skills"
CODEX = ".agents/skills"
GEMINI = ".gemini/skills"
OPENCLAW = "skills"
QWEN = ".qwen/skills"
KIMI = ".kimi-code/skills"
PI = "~/.pi/agent/skills"
COPILOT = ".github/skills"
AMP = ".agents/skills"
GOOSE = ".agents/skills"
NPX_SKILLS = "skills"


def _seen(done: Done, pairs: Pairs) -> Seen:
    """Tell what was found, and how the program ended where that was no success."""
    last = (done.err or done.out).strip().splitlines()[-1:]
    error = f"status {done.status}: {''.join(last)}" if done.status else ""
    return Seen(pairs, error)


def claude_code(desk: Desk) -> Seen:
    """Start a headless session, and read the list in its first message.

    The list gets the whole window: what is measured is what becomes of a pack, not
    what becomes of a hundred.
    """
    desk.write(".claude/settings.json", '{"skillListingBudgetFraction": 1.0}')
    environ = {
        "ANTHROPIC_API_KEY": "none",
        "ANTHROPIC_BASE_URL": desk.api.address,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_ERROR_REPORTING": "1",
    }
    done = desk.run(("-p", "hello", "--model", "claude-sonnet-5"), environ)
    text = reading.with_section(desk.api.texts(), "The following skills are available")
    folders = [path.name for path in (desk.project / CLAUDE).iterdir()]
    return _seen(done, reading.angle_brackets(reading.bullets(text, folders)))


def claude_plugin_validate(desk: Desk) -> Seen:
    """Validate a folder of packs; a pack is good unless it has an error."""
    done = desk.run(("plugin", "validate", "--json", CLAUDE), {})
    try:
        report: dict[str, Any] = json.loads(done.out)
    except ValueError:
        return Seen((), f"status {done.status}: {done.err.strip()[-200:]}")
    said = report.get("contents") or ()
    bad = {each["file"] for each in said if each["errors"]}
    packs = sorted((desk.project / CLAUDE).iterdir())
    return Seen(
        tuple(
            (pack.name, None)
            for pack in packs
            if not any(str(file).startswith(f"{pack}/") for file in bad)
        )
    )


def codex(desk: Desk) -> Seen:
    """Run one turn, and read the list in the request."""
    desk.write(
        "codex/config.toml",
        'model = "gpt-5"\nmodel_provider = "fake"\n'
        "check_for_update_on_startup = false\n[analytics]\nenabled = false\n"
        f'[model_providers.fake]\nname = "fake"\nwire_api = "responses"\n'
        f'base_url = "{desk.api.address}/v1"\n',
    )
    arguments = ("exec", "--skip-git-repo-check", "hello")
    done = desk.run(arguments, {"CODEX_HOME": str(desk.home / "codex")})
    text = reading.with_section(desk.api.texts(), "<skills_instructions>")
    return _seen(done, reading.codex(text, str(desk.project / CODEX)))


def gemini_cli(desk: Desk) -> Seen:
    """List all skills, of a folder that is trusted."""
    trusted = {str(desk.project): "TRUST_FOLDER"}
    desk.write(".gemini/trustedFolders.json", json.dumps(trusted))
    done = desk.run(("skills", "list", "--all"), {})
    return _seen(done, reading.gemini(done.out))


def npx_skills(desk: Desk) -> Seen:
    """List what could be installed from a folder."""
    done = desk.run(("add", "./skills", "--list"), {})
    return _seen(done, reading.npx_skills(done.out))


def openclaw(desk: Desk) -> Seen:
    """List the skills of a workspace that its model may see."""
    settings = {"agents": {"defaults": {"workspace": str(desk.project)}}}
    desk.write(".openclaw/openclaw.json", json.dumps(settings))
    done = desk.run(("skills", "list", "--json"), {})
    return _from_json(
        done,
        lambda said: [
            each
            for each in said["skills"]
            if each["source"] == "openclaw-workspace" and each["modelVisible"]
        ],
    )


def qwen_code(desk: Desk) -> Seen:
    """Run one turn, and read the list in the request."""
    auth = {"security": {"auth": {"selectedType": "openai"}}}
    desk.write(".qwen/settings.json", json.dumps(auth))
    environ = {
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": f"{desk.api.address}/v1",
        "OPENAI_MODEL": "fake",
    }
    done = desk.run(("-p", "hello"), environ)
    pairs = reading.xml(reading.with_section(desk.api.texts(), "<available_skills>"))
    ours = " (project)"
    return _seen(
        done,
        tuple(
            (name, description.removesuffix(ours).strip() or None)
            for name, description in pairs
            if description and description.endswith(ours)
        ),
    )


def kimi_code(desk: Desk) -> Seen:
    """Run one turn, and read the list in the request."""
    desk.write(".kimi-code/config.toml", "telemetry = false\n")
    environ = {
        "KIMI_CODE_NO_AUTO_UPDATE": "1",
        "KIMI_MODEL_API_KEY": "none",
        "KIMI_MODEL_BASE_URL": f"{desk.api.address}/v1",
        "KIMI_MODEL_NAME": "fake",
        "KIMI_MODEL_PROVIDER_TYPE": "openai",
    }
    done = desk.run(("-p", "hello"), environ)
    text = reading.with_section(desk.api.texts(), "Current available skills:")
    return _seen(done, reading.kimi(text, str(desk.project / KIMI)))


def pi(desk: Desk) -> Seen:
    """Run one turn, and read the list in the request."""
    provider = {
        "baseUrl": f"{desk.api.address}/v1",
        "api": "openai-completions",
        "apiKey": "none",
        "models": [{"id": "fake"}],
    }
    models = {"providers": {"fake": provider}}
    desk.write(".pi/agent/models.json", json.dumps(models))
    arguments = ("--provider", "fake", "--model", "fake", "-p", "hello")
    done = desk.run(arguments, {"PI_OFFLINE": "1"})
    text = reading.with_section(desk.api.texts(), "<available_skills>")
    return _seen(done, reading.xml(text))


def copilot(desk: Desk) -> Seen:
    """List the skills of a project."""
    done = desk.run(("skill", "list", "--json"), {"COPILOT_OFFLINE": "true"})
    return _from_json(
        done, lambda said: [each for each in said if each["source"] == "project"]
    )


def goose(desk: Desk) -> Seen:
    """Run one turn, and read the list in the request."""
    environ = {
        "GOOSE_DISABLE_KEYRING": "1",
        "GOOSE_MODEL": "fake",
        "GOOSE_PROVIDER": "openai",
        "GOOSE_TELEMETRY_ENABLED": "false",
        "OPENAI_API_KEY": "none",
        "OPENAI_HOST": desk.api.address,
    }
    done = desk.run(("run", "--no-session", "-t", "hello"), environ)
    section = reading.with_section(desk.api.texts(), reading.GOOSE)
    return _seen(done, reading.goose(section))


def amp(desk: Desk) -> Seen:
    """List the skills of a project."""
    environ = {"AMP_API_KEY": "none", "AMP_URL": desk.api.address}
    done = desk.run(("skill", "list", "--json"), environ)
    return _from_json(
        done,
        lambda said: [
            each for each in said["skills"] if each["source"] == "workspace-agents"
        ],
    )


def _from_json(done: Done, choose: Callable[[Any], list[dict[str, Any]]]) -> Seen:
    try:
        said = choose(json.loads(done.out))
    except (ValueError, LookupError, TypeError) as error:
        return Seen((), f"status {done.status}: {error}: {done.err.strip()[-200:]}")
    pairs = tuple((str(each["name"]), _text(each.get("description"))) for each in said)
    return _seen(done, pairs)


def _text(value: object) -> str | None:
    """Return a description; what is no text as the client would print it."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
