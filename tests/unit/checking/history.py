"""A small repository with a library in it, made without settings of a user."""

import os
import subprocess
from pathlib import Path

__all__ = ["commit", "git", "write"]

PACK = (
    "---\nname: {name}\ndescription: {description}\n---\n# Title\n\n"
    "Do what is asked.\n{more}"
)


def git(folder: Path, *arguments: str, data: bytes = b"") -> str:
    """Run git without a configuration."""
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith("GIT_")
    }
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        input=data,
        env={
            **environment,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "a",
            "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "a",
            "GIT_COMMITTER_EMAIL": "a@example.org",
        },
        capture_output=True,
        check=True,
    )
    return done.stdout.decode().strip()


def commit(folder: Path, message: str = "x") -> str:
    """Commit everything; return the commit."""
    if not (folder / ".git").exists():
        git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def write(
    folder: Path, name: str, description: str = "", more: str = "", **files: str
) -> Path:
    """Write a pack below ``folder``; ``files`` by path, with __ for /."""
    pack = folder / name
    pack.mkdir(parents=True, exist_ok=True)
    description = description or f"Use it for {name} and for nothing else."
    text = PACK.format(name=name, description=description, more=more)
    (pack / "SKILL.md").write_text(text, "utf-8")
    for path, content in files.items():
        file = pack / path.replace("__", "/").replace("_dot_", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, "utf-8")
    return pack
