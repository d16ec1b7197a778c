"""The addresses of the page: `/ui` and what is below it. Only a login is no GET."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qs, urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from satchel.errors import DeniedError, SkillError, SkillNotFoundError
from satchel.files import LruCache
from satchel.model import SKILL_FILE, Catalog, Descriptor, SyncReport
from satchel.products import PANELS
from satchel.runtime import View
from satchel.text import clean_line
from satchel_server._errors import ErrorAnswer, error_answer
from satchel_server._guard._sessions import COOKIE, PAGE_PATH, PageSession
from satchel_server._http._endpoints import HttpContext, path_segments
from satchel_server._library import VISITOR, Caller, caller_of
from satchel_server._page import _skill, _use
from satchel_server._page._facts import Filters, LibraryFacts, state_of
from satchel_server._page._templates import (
    error_values,
    page_response,
    page_url,
    static_response,
)
from satchel_server.usage import check_acts

# Gives a session for a token, or says why not.
LogIn: TypeAlias = Callable[[str], Awaitable[PageSession | ErrorAnswer]]

_SKILLS: Final = f"{PAGE_PATH}/skills/"
_MAX_WORDS: Final = 1_000
_MAX_FACTS: Final = 64
# Callers for whom a new catalog is looked through before they ask.
_MAX_PREPARED: Final = 4
_MAX_PANELS: Final = 512
_MAX_DIGITS: Final = 6
_MAX_FORM_BYTES: Final = 16 * 1024
_NOT_HERE: Final = "There is nothing at this address, or it is not for you to see."


class PageError(Exception):
    """An answer that is a page with a status and a sentence."""

    def __init__(self, status: int, message: str = _NOT_HERE) -> None:
        super().__init__(status, message)
        self.status = status
        self.message = message


@dataclass(frozen=True, slots=True)
class Visit:
    """One request for a page: who asks, and what there is for them."""

    request: Request
    caller: Caller
    view: View
    facts: LibraryFacts


class Page:
    """Answers browsers. ``log_in`` is None where no token is needed."""

    def __init__(self, http: HttpContext, place: str, log_in: LogIn | None) -> None:
        self._library = http.library
        self._reports = _use.UseReports(place) if place else None
        self._log_in = log_in
        self._history = _skill.History(http.library)
        self._facts: LruCache[Caller, tuple[Catalog, LibraryFacts]]
        self._facts = LruCache(_MAX_FACTS)
        self._callers: set[Caller] = set()
        self._library.listen(self._prepare)
        self._panels: LruCache[object, list[_skill.PanelText]] = LruCache(_MAX_PANELS)

    # --- How each answer is made ------------------------------------------------------

    def route(
        self, path: str, answer: Callable[[Visit], Response], *, slow: bool = False
    ) -> Route:
        """Return a route whose answers are made in a thread."""

        async def handler(request: Request) -> Response:
            segments = path_segments(request, _SKILLS) if slow else None
            source = self._library.slow_source(segments[0]) if segments else None
            work = partial(self._answer, request, answer)
            try:
                return await self._library.threads.run(source, work)
            except SkillError as error:  # too many wait for this source
                return self._fail_by(request, error)

        return Route(path, handler)

    def _answer(
        self, request: Request, answer: Callable[[Visit], Response]
    ) -> Response:
        caller = caller_of(request.scope)
        if caller == VISITOR:
            return self._login_form(request, status=HTTPStatus.UNAUTHORIZED)
        view = self._library.view(caller, via="ui")
        try:
            visit = Visit(request, caller, view, self._facts_of(caller, view))
            return answer(visit)
        except PageError as error:
            return self.fail(request, error.status, error.message)
        except SkillError as error:
            return self._fail_by(request, error)

    def _fail_by(self, request: Request, error: SkillError) -> Response:
        refusal = error_answer(error)
        return self.fail(request, refusal.status, refusal.message)

    def _facts_of(self, caller: Caller, view: View) -> LibraryFacts:
        catalog = view.catalog
        cached = self._facts.find(caller)
        # By its identity: a sync publishes another object.
        if cached is not None and cached[0] is catalog:
            return cached[1]
        facts = LibraryFacts(self._library, view)
        self._facts.put(caller, (catalog, facts))
        if len(self._callers) < _MAX_PREPARED:
            self._callers.add(caller)
        return facts

    def _prepare(self, report: SyncReport) -> None:
        """Look through a new catalog in the thread that synced, for who looked here."""
        del report
        for caller in tuple(self._callers):
            facts = self._facts_of(caller, self._library.view(caller, via="ui"))
            facts.prepare()

    def show(
        self, visit: Visit, name: str, current: str, status: int = 200, **values: object
    ) -> Response:
        """Return a page with what all pages have."""
        everywhere = {
            "server": self._library.settings.name,
            "caller": visit.caller.name if self._log_in else "",
            "state": state_of(self._library, visit.facts),
            "current": current,
        }
        return page_response(
            visit.request, name, {**everywhere, **values}, status=status
        )

    def fail(self, request: Request, status: int, message: str) -> Response:
        values = error_values(status, message)
        return page_response(request, "error.html", values, status=status)

    # --- Library ----------------------------------------------------------------------

    def library(self, visit: Visit) -> Response:
        query = visit.request.query_params
        words = {name: query.get(name, "")[:_MAX_WORDS] for name in Filters.__slots__}
        filters = Filters(**words)
        page = visit.facts.rows(visit.view, filters, _number(query.get("page", "")))
        excluded = visit.facts.exclusion(filters.q.strip()) if filters.q else None
        return self.show(
            visit,
            "library.html",
            "library",
            page=page,
            filters=filters,
            choices=visit.facts.choices,
            excluded=excluded,
            detail=visit.facts.public(excluded.detail) if excluded else "",
        )

    def state(self, visit: Visit) -> Response:
        facts = visit.facts
        findings = facts.other_findings if facts.is_whole else ()
        return self.show(
            visit,
            "state.html",
            "state",
            sources=facts.sources(),
            public=facts.public,
            sees_all=facts.is_whole,
            not_listed=list(facts.not_listed()),
            findings=[f for f in findings if f.code != "source-unavailable"],
        )

    # --- A skill ----------------------------------------------------------------------

    def skill(self, visit: Visit) -> Response:
        """Answer with a skill, one of its files, or what a release changed in it."""
        # Starlette would decode "%2F" in an id before it splits the path.
        match path_segments(visit.request, _SKILLS):
            case [str(skill_id)] if skill_id:
                return self._skill_page(visit, self._entry(visit, skill_id))
            case [str(skill_id), "files", *path] if skill_id and path:
                entry = self._entry(visit, skill_id)
                return self._file(visit, entry, "/".join(path))
            case [str(skill_id), "history"] if skill_id:
                entry = self._loadable(visit, skill_id)
                versions = self._history.versions(entry)
                about: dict[str, Any] = {"entry": entry, "versions": versions}
                return self.show(visit, "history.html", "library", lines=(), **about)
            case [str(skill_id), "history", str(release)] if skill_id:
                entry = self._loadable(visit, skill_id)
                lines = self._history.difference(entry, release)
                if lines is None:
                    raise PageError(HTTPStatus.NOT_FOUND)
                about = {"entry": entry, "versions": (), "release": release}
                return self.show(visit, "history.html", "library", lines=lines, **about)
            case _:
                raise PageError(HTTPStatus.NOT_FOUND)

    def _entry(self, visit: Visit, skill_id: str) -> Descriptor:
        """Return a skill that this caller may load, or one that is not listed."""
        try:
            return visit.view.descriptor(skill_id)
        except (SkillNotFoundError, DeniedError) as error:
            excluded = visit.facts.exclusion(skill_id)
            if excluded is None:
                raise PageError(HTTPStatus.NOT_FOUND) from error
            return excluded.descriptor

    def _loadable(self, visit: Visit, skill_id: str) -> Descriptor:
        if visit.view.needs_approval(skill_id):
            raise PageError(HTTPStatus.FORBIDDEN, _skill.NEEDS_APPROVAL)
        return visit.view.descriptor(skill_id)

    def _skill_page(self, visit: Visit, entry: Descriptor) -> Response:
        base = f"{_scheme(visit.request)}://{visit.request.headers.get('host', '')}"
        asks, view = self._log_in is not None, visit.view
        # Of a pack that cannot be loaded its text is not for every caller.
        loads = bool(view.loadable(entry.id)) and not view.needs_approval(entry.id)
        versions: tuple[_skill.Version, ...] | None = ()
        if loads:
            quick = self._history.is_quick
            versions = self._history.versions(entry) if quick else None
        return self.show(
            visit,
            "skill.html",
            "library",
            skill=_skill.skill_page(visit.facts, visit.view, entry),
            panels=self._panels_of(visit, entry) if loads else (),
            versions=versions,
            use=_skill.lines_to_use(base, entry, asks=asks),
        )

    def _panels_of(self, visit: Visit, entry: Descriptor) -> list[_skill.PanelText]:
        def make() -> list[_skill.PanelText]:
            of = self._library, visit.facts, entry
            return [_skill.panel_text(key, *of) for key in PANELS]

        # `==` on entries leaves their files out, so they are part of the key.
        return self._panels.get((visit.caller, entry, entry.files), make)

    def _file(self, visit: Visit, entry: Descriptor, path: str) -> Response:
        if path != SKILL_FILE and path not in entry.resources:
            raise PageError(HTTPStatus.NOT_FOUND)
        # The plain text of a SKILL.md; it is rendered on the skill's own page.
        plain = path == SKILL_FILE or "plain" in visit.request.query_params
        file = _skill.file_text(visit.view, entry, path, plain=plain)
        return self.show(visit, "file.html", "library", entry=entry, file=file)

    # --- Use --------------------------------------------------------------------------

    def use(self, visit: Visit) -> Response:
        """Answer with the report, or with one of its tables as a whole."""
        match path_segments(visit.request, f"{PAGE_PATH}/use"):
            case [""]:
                return self._use_page(visit, "")
            case ["", "acts"]:
                return self._acts(visit)
            case ["", str(table)]:
                return self._use_page(visit, table)
            case _:
                raise PageError(HTTPStatus.NOT_FOUND)

    def _use_page(self, visit: Visit, key: str) -> Response:
        days = _number(visit.request.query_params.get("days", ""))
        days = days if days in _use.DAYS else _use.DAYS[1]
        values: dict[str, Any] = {"days": days, "choices": _use.DAYS, "problem": ""}
        if self._reports is None:
            return self.show(visit, "use.html", "use", report=None, **values)
        try:
            use = self._reports.read(days, visit.caller, visit.facts)
        except SkillError as error:
            values["problem"] = visit.facts.public(str(error))
            return self.show(visit, "use.html", "use", report=None, **values)
        if key:
            table = next((one for one in use.tables if one.key == key), None)
            if table is None:
                raise PageError(HTTPStatus.NOT_FOUND)
            return self.show(visit, "table.html", "use", table=table, **values)
        return self.show(
            visit,
            "use.html",
            "use",
            report=use.report,
            tables=use.tables,
            loads=use.days,
            queries=use.queries,
            sees_all=visit.facts.is_whole,
            **values,
        )

    def _acts(self, visit: Visit) -> Response:
        problem, acts = "", list[tuple[str, ...]]()
        try:
            if self._reports is not None:
                acts = self._reports.acts(visit.caller, visit.facts)
        except SkillError as error:
            problem = visit.facts.public(str(error))
        head = [word.capitalize() for word in check_acts.HEAD]
        return self.show(
            visit, "acts.html", "use", head=head, acts=acts, problem=problem
        )

    # --- Sessions ---------------------------------------------------------------------

    def _login_form(
        self, request: Request, *, status: int = 200, message: str = "", to: str = ""
    ) -> Response:
        path, query = request.url.path, request.url.query
        values = {
            "server": self._library.settings.name,
            "message": message,
            "to": to or (f"{path}?{query}" if query else path),
        }
        challenge = {"WWW-Authenticate": 'Bearer realm="satchel"'}
        headers = challenge if status == HTTPStatus.UNAUTHORIZED else {}
        return page_response(
            request, "login.html", values, status=status, headers=headers
        )

    async def log_in(self, request: Request) -> Response:
        """Answer a form with a token, and let a cookie stand for it."""
        if self._log_in is None:
            return _see_other(page_url())
        if request.method != "POST":
            return self._login_form(request, to=page_url())
        form = await _form(request)
        if form is None or not _is_own(request):
            message = "This form was not sent from this page."
            return self.fail(request, HTTPStatus.FORBIDDEN, message)
        to = _place_here(form.get("to", ""))
        session = await self._log_in(form.get("token", ""))
        if isinstance(session, ErrorAnswer):
            message = f"{session.message[:1].upper()}{session.message[1:]}."
            return self._login_form(
                request, status=session.status, message=message, to=to
            )
        response = _see_other(to)
        _set_cookie(request, response, session.value, session.seconds)
        return response

    async def log_out(self, request: Request) -> Response:
        if not _is_own(request):
            message = "This form was not sent from this page."
            return self.fail(request, HTTPStatus.FORBIDDEN, message)
        response = _see_other(page_url("login"))
        _set_cookie(request, response, "", 0)
        return response

    async def static(self, request: Request) -> Response:
        name = str(request.path_params["name"])
        response = static_response(request, name)
        return response or self.missing(request)

    def missing(self, request: Request) -> Response:
        """Answer an address that is not there; who has no token sees the form."""
        if caller_of(request.scope) == VISITOR:
            return self._login_form(request, status=HTTPStatus.UNAUTHORIZED)
        return self.fail(request, HTTPStatus.NOT_FOUND, _NOT_HERE)


def page_routes(page: Page) -> list[Route]:
    """Return the routes; the last one is for what is not there."""

    async def missing(request: Request) -> Response:
        return page.missing(request)

    return [
        page.route(PAGE_PATH, page.library),
        page.route(f"{_SKILLS}{{rest:path}}", page.skill, slow=True),
        page.route(f"{PAGE_PATH}/use", page.use),
        page.route(f"{PAGE_PATH}/use/{{rest:path}}", page.use),
        page.route(f"{PAGE_PATH}/state", page.state),
        Route(f"{PAGE_PATH}/login", page.log_in, methods=["GET", "POST"]),
        Route(f"{PAGE_PATH}/logout", page.log_out, methods=["POST"]),
        Route(f"{PAGE_PATH}/static/{{name}}", page.static),
        Route(f"{PAGE_PATH}/{{rest:path}}", missing),
    ]


def _number(text: str) -> int:
    digits = text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS
    return int(text) if digits else 0


async def _form(request: Request) -> Mapping[str, str] | None:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _MAX_FORM_BYTES:
            return None
    try:
        fields = parse_qs(
            body.decode("ascii"), keep_blank_values=True, max_num_fields=8
        )
    except ValueError:
        return None
    return {name: values[-1] for name, values in fields.items()}


def _is_own(request: Request) -> bool:
    """Return whether a form comes from a page of this very server."""
    origin = request.headers.get("origin", "")
    host = request.headers.get("host", "")
    return bool(host) and urlsplit(origin).netloc.lower() == host.lower()


def _place_here(to: str) -> str:
    """Return an address of the page; anything else would lead away."""
    is_here = to == PAGE_PATH or to.startswith((f"{PAGE_PATH}/", f"{PAGE_PATH}?"))
    is_form = to.startswith((page_url("login"), page_url("logout")))
    return to if is_here and not is_form and clean_line(to) == to else page_url()


def _see_other(to: str) -> Response:
    headers = {"Location": to, "Cache-Control": "no-store"}
    return Response(status_code=HTTPStatus.SEE_OTHER, headers=headers)


def _scheme(request: Request) -> str:
    # The client's word is enough: a wrong one only keeps its own cookie from working.
    sent = request.headers.get("x-forwarded-proto", "")
    return "https" if sent == "https" else request.url.scheme


def _set_cookie(request: Request, response: Response, value: str, age_s: int) -> None:
    response.set_cookie(
        COOKIE,
        value,
        max_age=age_s,
        path=PAGE_PATH,
        secure=_scheme(request) == "https",
        httponly=True,
        samesite="strict",
    )
