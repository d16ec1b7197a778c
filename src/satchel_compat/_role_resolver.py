"""From the folder and the name of a role to its prompt.

That is a pack, a legacy template, or one sentence.
"""

# ruff: noqa: PTH110, PTH112, PTH118 - as text, as the user wrote it
import logging
import os
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final, get_args

from satchel.model import DEFAULT_LIMITS, Finding, Limits, Rendered
from satchel.prompt import render
from satchel.protocols import TokenCounter
from satchel.runtime import Satchel
from satchel.skill_md import Profile
from satchel.text import EstimateCounter, printable
from satchel_compat._role import (
    DEFAULT_BUDGET_TOKENS,
    LegacyRenderer,
    OncePerKey,
    Primary,
    ResolvedRolePrompt,
    RoleRequest,
    check_role,
    is_role,
)
from satchel_compat._role_library import RoleLibrary
from satchel_compat._role_prompt import PackPrompt, TemplatePrompt
from satchel_lab.authoring import SYSTEM_PROMPT

_log: Final = logging.getLogger("satchel")


class RoleResolver:
    """The prompts of all roles of one folder; made once, asked at every spawn.

    The folder holds ``skills/<role>/SKILL.md``, ``roles/<role>/system_prompt.md``, or
    both. Packs are read when the first role is asked for, and again only where the
    tree below ``skills`` changed; templates are read at every call. Safe across
    threads.

    ``named_packs`` says whether some prompt so far was that of a pack.

    A folder called ``roles`` that has neither of the two means its parent folder, as
    users of the earlier system wrote it.

    Args:
        templates_dir: The folder; one that does not exist has no roles.
        packs: The folder of the packs in it; empty if they are directly in it.
        include_plugins: Whether packs of installed plug-ins are skills and roles too.
        deny: Plug-ins to leave out, as for `satchel.SkillLoader`.
        profile: What is accepted as a pack.
        limits: Bounds on packs and templates.
    """

    def __init__(  # noqa: PLR0913 - the folder, its options all by name
        self,
        templates_dir: str | os.PathLike[str],
        *,
        packs: str = "skills",
        include_plugins: bool = True,
        deny: Collection[str] = (),
        profile: Profile = "auto",
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        """Take the folder, relative to the current working folder; read nothing."""
        self.templates_dir: Final = _home(os.fspath(templates_dir))
        folder = self.templates_dir
        self._library: Final = RoleLibrary(
            os.path.join(folder, packs) if packs else folder,
            include_plugins=include_plugins,
            deny=deny,
            profile=profile,
            limits=limits,
        )
        self._packs: Final = PackPrompt(self._library, limits)
        roles = os.path.join(self.templates_dir, "roles")
        # Absolute, and not normalised: ``..`` may follow a link.
        absolute = os.path.join(os.getcwd(), roles)  # noqa: PTH109
        self._templates: Final = TemplatePrompt(roles, absolute, limits)
        self._logged: Final = OncePerKey()
        self.named_packs = False

    @property
    def skills(self) -> Satchel:
        """The packs that prompts of this folder name, as they are now.

        `satchel.load_skill` loads from it; an agent can use it as well.
        """
        return self._library.skills_now()

    @property
    def parses(self) -> int:
        """How many SKILL.md files of the folder were parsed so far.

        A call that finds the folder unchanged adds none.
        """
        return self._library.parses

    def resolve(  # noqa: PLR0913 - one call, its options all by name
        self,
        role: str,
        *,
        primary: Primary = "hint",
        context: Mapping[str, object] | None = None,
        budget_tokens: int | None = DEFAULT_BUDGET_TOKENS,
        counter: TokenCounter | None = None,
        find_tool: str | None = "find_skills",
        legacy_renderer: LegacyRenderer | None = None,
        shell: bool = False,
    ) -> ResolvedRolePrompt:
        """Return the prompt of a role; see `satchel.resolve_role_prompt`.

        Raises:
            InvalidRoleError: ``role`` is not the name of a role; nothing was looked at.
            DuplicateSkillError: Two packs claim the role.
            ValueError: ``primary`` is neither of its two values.
        """
        # Before any file is looked at: the role becomes a part of paths.
        check_role(role)
        if primary not in get_args(Primary):
            choices = " or ".join(map(repr, get_args(Primary)))
            raise ValueError(f"primary={primary!r}: expected {choices}")
        request = RoleRequest(
            role=role,
            primary=primary,
            context=context or {},
            budget_tokens=budget_tokens,
            counter=counter or EstimateCounter(),
            find_tool=find_tool,
            renderer=legacy_renderer,
            shell=shell,
        )
        findings: list[Finding] = []
        packed = resolved = self._packs.resolve(request, findings)
        if resolved is None:
            resolved = self._templates.resolve(request, findings)
        if resolved is None:  # not `or`: a prompt may be an empty text
            resolved = self._stub(request, findings)
        for finding in findings:
            self._log(role, finding)
        resolved = replace(resolved, findings=(*findings, *resolved.findings))
        if packed is None:
            return resolved
        self.named_packs = True
        return self._compared(resolved, request)

    def build_index_only(
        self,
        *,
        budget_tokens: int | None = DEFAULT_BUDGET_TOKENS,
        counter: TokenCounter | None = None,
        find_tool: str | None = "find_skills",
    ) -> Rendered:
        """Return the index alone, no skill marked in it; empty where there is none."""
        catalog, _ = self._library.current()
        return render(
            catalog,
            format="markdown",
            budget_tokens=budget_tokens,
            counter=counter,
            find_tool=find_tool,
        )

    def roles(self) -> tuple[str, ...]:
        """Return every role that has a pack or a template, sorted."""
        catalog, _ = self._library.current()
        packed = {entry.id for entry in catalog if is_role(entry.id)}
        return tuple(sorted(packed | self._templates.names()))

    def invalidate_cache(self) -> None:
        """Forget what was read: the next call parses every pack and asks plug-ins."""
        self._library.invalidate()

    def _compared(
        self, resolved: ResolvedRolePrompt, request: RoleRequest
    ) -> ResolvedRolePrompt:
        """Add the tokens of the legacy template, if there is one."""
        legacy = self._templates.tokens(request)
        findings, tokens = resolved.findings, resolved.tokens
        if legacy is not None and legacy < tokens:
            folder = self._packs.folder(request)
            more = Finding.of("role-costs-more", folder, tokens=tokens, legacy=legacy)
            findings += (more,)
        return replace(resolved, legacy_tokens=legacy, findings=findings)

    def _stub(
        self, request: RoleRequest, findings: list[Finding]
    ) -> ResolvedRolePrompt:
        # A folder that has either of the two may lack this role: that is no mistake.
        folders = (self._library.root, self._templates.root)
        if not any(map(os.path.isdir, folders)):
            findings.append(Finding.of("no-templates", self.templates_dir))
        text = f"You are a {request.role} specialist."
        return request.counted(ResolvedRolePrompt(text, "fallback"))

    def _log(self, role: str, finding: Finding) -> None:
        """Log once why a role does not get the prompt that was written for it."""
        self._logged.do(
            (role, finding),
            lambda: _log.warning("role %r: %s", role, printable(str(finding), keep="")),
        )


def _home(templates_dir: str) -> str:
    """Return the folder that holds ``skills`` and ``roles``, as the user wrote it."""
    parent, name = os.path.split(templates_dir.rstrip(os.sep + (os.altsep or "")))
    if name != "roles":
        return templates_dir
    inner = (os.path.join(templates_dir, folder) for folder in ("skills", "roles"))
    return templates_dir if any(map(_holds_packs, inner)) else parent or os.curdir


def _holds_packs(folder: str) -> bool:
    """Return whether it is such a folder, and not a template of a role of that name."""
    template = os.path.join(folder, SYSTEM_PROMPT)
    return os.path.isdir(folder) and not os.path.exists(template)
