"""The role packs as the earlier system named them, and where they are."""

from pathlib import Path
from typing import Final

__all__ = ["EVALS", "FILES", "PACKS", "ROLES", "ROOT"]

ROOT: Final = Path(__file__).parents[3]
PACKS: Final = ROOT / "src" / "satchel" / "packs"

FILES: Final[dict[str, tuple[str, ...]]] = {
    "analyst": ("scripts/score.py",),
    "architect": (
        "references/adr-template.md",
        "references/decomposition-principles.md",
    ),
    "backend": (
        "references/error-handling.md",
        "references/python-conventions.md",
        "references/test-patterns.md",
        "scripts/lint.sh",
    ),
    "ci-fixer": ("scripts/repeat.py",),
    "devops": ("references/ci-patterns.md", "references/docker-practices.md"),
    "docs": (
        "references/doc-structure.md",
        "references/docstring-style.md",
        "scripts/check-links.sh",
    ),
    "frontend": ("references/a11y.md", "references/state-management.md"),
    "manager": (
        "references/planning-rules.md",
        "references/task-api.md",
        "scripts/check_plan.py",
    ),
    "ml-engineer": (
        "references/evaluation.md",
        "references/reproducibility.md",
        "scripts/compare.py",
    ),
    "prompt-engineer": ("assets/cases.jsonl", "scripts/run_evals.py"),
    "qa": ("references/edge-cases.md", "references/test-strategy.md"),
    "resolver": ("scripts/list_conflicts.py",),
    "retrieval": (
        "references/chunking.md",
        "references/hybrid-search.md",
        "scripts/score_search.py",
    ),
    "reviewer": ("references/feedback-tone.md", "references/review-rubric.md"),
    "security": (
        "references/auth-checklist.md",
        "references/owasp-top-10.md",
        "references/secrets-handling.md",
    ),
    "visionary": ("assets/ideas.schema.json", "scripts/check_ideas.py"),
    "vp": ("references/cell-decomposition.md", "references/pivot-evaluation.md"),
}
"""The files of each role that its agent reads or runs; five have no references."""

EVALS: Final = "evals/trigger_eval.json"
"""Queries to measure a pack with, which no agent is ever shown."""

ROLES: Final = tuple(FILES)
