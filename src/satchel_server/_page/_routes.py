"""The addresses of the page: `/ui` and what is below it. Only a login is no GET."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Final, TypeAlias
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from satchel.errors import DeniedError, SkillError, SkillNotFoundError
from satchel.files import LruCache
from satchel.model import SKILL_FILE, Descriptor
from satchel.runtime import View
from satchel.text import clean_line
from satchel_server._errors import ErrorAnswer, error_answer
from satchel_server._guard._page_sessions import COOKIE, PAGE_PATH, PageSession
from satchel_server._http._endpoints import HttpContext, path_segments
from satchel_server._library import VISITOR, Caller, caller_of
from satchel_server._page._facts import FILTERS, LibraryFacts
from satchel_server._page._history import History
from satchel_server._page._skill import panel_texts, shown_file
from satchel_server._page._templates import HERE, error_page, page_response, page_url
from satchel_server._page._use import DAYS, ShownUse, UseReports
from satchel_server.usage import check_acts

# Gives a session for a token, or says why not.
LogIn: TypeAlias = Callable[[str], Awaitable[PageSession | ErrorAnswer]]

_SKILLS: Final = f"{PAGE_PATH}/skills/"
_STATIC: Final = {
    "style.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
_MAX_WORDS: Final = 1_000
_MAX_FACTS: Final = 64
_NUMBER: Final = re.compile(r"[0-9]{1,6}")
_MAX_FORM_BYTES: Final = 16 * 1024
_NEEDS_APPROVAL: Final = "somebody has to approve each load"
# What somebody without a token asks for, whether it is there or not.
_ASKS_FOR_TOKEN: Final = (401, 404, 405)


@dataclass(frozen=True, slots=True)
class Visit:
    """One request for a page: who asks, and what there is for them."""

    request: Request
    caller: Caller
    view: View
    facts: LibraryFacts


class Page:
    """Answers browsers. ``log_in`` is None where no token is needed."""

    def __init__(self, http: HttpContext, log_in: LogIn | None) -> None:
        self._http, self._library = http, http.library
        place = http.settings.usage
        self._reports = UseReports(place) if place else None
        self._log_in = log_in
        self._history = History(http.library)
        self._facts: LruCache[Caller, LibraryFacts] = LruCache(_MAX_FACTS)

    # --- How each answer is made ------------------------------------------------------

    def route(self, path: str, answer: Callable[[Visit], Response]) -> Route:
        """Return a route whose answers are made in a thread, of a slow source's own."""

        async def handler(request: Request) -> Response:
            segments = path_segments(request, _SKILLS) or [""]
            source = self._library.slow_source(segments[0])
            work = partial(self._answer, request, answer)
            return await self._library.threads.run(source, work)

        return Route(path, handler)

    def _answer(
        self, request: Request, answer: Callable[[Visit], Response]
    ) -> Response:
        caller = caller_of(request.scope)
        if caller == VISITOR:
            raise HTTPException(HTTPStatus.UNAUTHORIZED)
        view = self._library.view(caller, via="ui")
        facts = self._facts.find(caller)
        # By its identity: a sync publishes another object.
        if facts is None or facts.catalog is not view.catalog:
            facts = LibraryFacts(self._library, view)
            self._facts.put(caller, facts)
        return answer(Visit(request, caller, view, facts))

    def show(self, visit: Visit, template: str, /, **values: object) -> Response:
        """Return a page with what all pages have."""
        host = visit.request.headers.get("host", "")
        everywhere = {
            "server": self._library.settings.name,
            "caller": visit.caller.name if self._log_in else "",
            # The address of this server, as the browser has it.
            "base": f"{_scheme(visit.request)}://{host}",
            "facts": visit.facts,
        }
        return page_response(visit.request, template, {**everywhere, **values})

    def fail(self, request: Request, error: Exception) -> Response:
        """Answer with the page of an error; who has no token sees the form."""
        if isinstance(error, SkillError):
            refusal = error_answer(error)
            return error_page(request, refusal.status, refusal.message)
        assert isinstance(error, HTTPException)  # noqa: S101 - see `page_app`
        status = error.status_code
        if status in _ASKS_FOR_TOKEN and caller_of(request.scope) == VISITOR:
            path, query = request.url.path, request.url.query
            to = f"{path}?{query}" if query else path
            return self._login_form(request, status=HTTPStatus.UNAUTHORIZED, to=to)
        response = error_page(request, status, error.detail)
        response.headers.update(error.headers or {})
        return response

    # --- Library ----------------------------------------------------------------------

    def library(self, visit: Visit) -> Response:
        query = visit.request.query_params
        words = "q", "sort", *FILTERS
        asked = {name: query.get(name, "")[:_MAX_WORDS] for name in words}
        page = query.get("page", "")
        number = int(page) if _NUMBER.fullmatch(page) else 1
        listing = visit.facts.listing(visit.view, asked, number)
        excluded = visit.facts.exclusion(asked["q"].strip()) if asked["q"] else None
        return self.show(
            visit, "library.html", page=listing, filters=asked, excluded=excluded
        )

    def state(self, visit: Visit) -> Response:
        return self.show(visit, "state.html")

    # --- A skill ----------------------------------------------------------------------

    def skill(self, visit: Visit) -> Response:
        """Answer with a skill, one of its files, or what a release changed in it."""
        # Starlette would decode "%2F" in an id before it splits the path.
        match path_segments(visit.request, _SKILLS):
            case [str(skill_id)] if skill_id:
                return self._skill_page(visit, self._entry(visit, skill_id))
            case [str(skill_id), "files", *path] if skill_id and path:
                return self._file(visit, self._entry(visit, skill_id), "/".join(path))
            case [str(skill_id), "history", *release] if skill_id:
                return self._versions(visit, self._entry(visit, skill_id), release)
            case _:
                raise HTTPException(HTTPStatus.NOT_FOUND)

    def _entry(self, visit: Visit, skill_id: str) -> Descriptor:
        """Return a skill that this caller may load, or one that is not listed."""
        try:
            return visit.view.descriptor(skill_id)
        except (SkillNotFoundError, DeniedError) as error:
            excluded = visit.facts.exclusion(skill_id)
            if excluded is None:
                raise HTTPException(HTTPStatus.NOT_FOUND) from error
            return excluded.descriptor

    def _skill_page(self, visit: Visit, entry: Descriptor) -> Response:
        facts, listed = visit.facts, entry.id in visit.facts.catalog
        file, problem = None, ""
        if visit.view.needs_approval(entry.id):
            problem = _NEEDS_APPROVAL  # nobody is asked here
        else:
            try:
                file = shown_file(visit.view, entry, SKILL_FILE, plain=False)
            except SkillError as error:
                problem = facts.public(str(error))
        # Of a pack that cannot be loaded its text is not for every caller.
        limits = self._library.skills.limits
        return self.show(
            visit,
            "skill.html",
            entry=entry,
            excluded=None if listed else facts.exclusion(entry.id),
            file=file,
            problem=problem,
            panels=[*panel_texts(facts, limits, entry)] if file else (),
        )

    def _file(self, visit: Visit, entry: Descriptor, path: str) -> Response:
        _check_approval(visit, entry)
        if path != SKILL_FILE and path not in entry.resources:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        # The plain text of a SKILL.md; it is rendered on the skill's own page.
        plain = path == SKILL_FILE or "plain" in visit.request.query_params
        file = shown_file(visit.view, entry, path, plain=plain)
        return self.show(visit, "file.html", entry=entry, file=file)

    def _versions(
        self, visit: Visit, entry: Descriptor, release: list[str]
    ) -> Response:
        """Answer with all releases that changed a skill, or with one's difference."""
        _check_approval(visit, entry)
        # Of a pack that cannot be loaded its text is not for every caller.
        visit.view.descriptor(entry.id)
        versions = self._history.versions(entry)
        if release:
            versions = [one for one in versions if [one.release] == release]
            if not versions:
                raise HTTPException(HTTPStatus.NOT_FOUND)
        return self.show(
            visit, "history.html", entry=entry, versions=versions, one=bool(release)
        )

    # --- Use --------------------------------------------------------------------------

    def use(self, visit: Visit) -> Response:
        """Answer with the report, or with one of its tables as a whole."""
        asked = visit.request.query_params.get("days")
        days = next((number for number in DAYS if str(number) == asked), DAYS[1])
        only = visit.request.path_params.get("table", "")
        use, problem = ShownUse(), ""
        try:
            if self._reports is not None:
                use = self._reports.read(days, visit.caller, visit.facts)
        except SkillError as error:
            problem = visit.facts.public(str(error))
        if only and use.report is not None and only not in use.rows:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        about = {"only": only, "days": days, "choices": DAYS, "problem": problem}
        return self.show(visit, "use.html", **about, **use._asdict())

    def acts(self, visit: Visit) -> Response:
        problem, acts = "", list[tuple[str, ...]]()
        try:
            if self._reports is not None:
                acts = self._reports.acts(visit.caller, visit.facts)
        except SkillError as error:
            problem = visit.facts.public(str(error))
        head = check_acts.HEAD
        return self.show(visit, "acts.html", head=head, acts=acts, problem=problem)

    # --- Sessions ---------------------------------------------------------------------

    def _login_form(
        self, request: Request, *, status: int = 200, message: str = "", to: str = ""
    ) -> Response:
        name = self._library.settings.name
        values = {"server": name, "message": message, "to": to}
        response = page_response(request, "login.html", values, status)
        if status == HTTPStatus.UNAUTHORIZED:
            response.headers["WWW-Authenticate"] = 'Bearer realm="satchel"'
        return response

    async def log_in(self, request: Request) -> Response:
        """Answer a form with a token, and let a cookie stand for it."""
        if self._log_in is None:
            return _see_other(page_url())
        if request.method != "POST":
            return self._login_form(request, to=page_url())
        form = await _own_form(request)
        to = _place_here(form.get("to", ""))
        session = await self._log_in(form.get("token", ""))
        if isinstance(session, ErrorAnswer):
            message = f"{session.message[:1].upper()}{session.message[1:]}."
            return self._login_form(
                request, status=session.status, message=message, to=to
            )
        return _see_other(to, request, session)

    async def log_out(self, request: Request) -> Response:
        await _own_form(request)
        return _see_other(page_url("login"), request, PageSession("", 0))

    def static(self, request: Request) -> Response:
        name = str(request.path_params["name"])
        if name not in _STATIC:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        data = (HERE / "static" / name).read_bytes()
        return self._http.responses.bytes(request, data, media_type=_STATIC[name])


def page_app(page: Page) -> Starlette:
    """Return the application of the page; each of its errors is a page, too."""
    app = Starlette(
        routes=[
            page.route(PAGE_PATH, page.library),
            page.route(f"{PAGE_PATH}/", page.library),
            page.route(f"{_SKILLS}{{rest:path}}", page.skill),
            page.route(f"{PAGE_PATH}/use", page.use),
            page.route(f"{PAGE_PATH}/use/acts", page.acts),
            page.route(f"{PAGE_PATH}/use/{{table}}", page.use),
            page.route(f"{PAGE_PATH}/state", page.state),
            Route(f"{PAGE_PATH}/login", page.log_in, methods=["GET", "POST"]),
            Route(f"{PAGE_PATH}/logout", page.log_out, methods=["POST"]),
            Route(f"{PAGE_PATH}/static/{{name}}", page.static),
        ],
        exception_handlers={HTTPException: page.fail, SkillError: page.fail},
    )
    app.router.redirect_slashes = False
    return app


def _check_approval(visit: Visit, entry: Descriptor) -> None:
    if visit.view.needs_approval(entry.id):
        raise HTTPException(HTTPStatus.FORBIDDEN, _NEEDS_APPROVAL)


async def _own_form(request: Request) -> dict[str, str]:
    """Return the fields of a form, if a page of this very server sent it."""
    body, host = await request.body(), request.headers.get("host", "").lower()
    origin = request.headers.get("origin", "").lower()
    is_own = bool(host) and origin in (f"http://{host}", f"https://{host}")
    if not is_own or len(body) > _MAX_FORM_BYTES:
        message = "This form was not sent from this page."
        raise HTTPException(HTTPStatus.FORBIDDEN, message)
    return dict(parse_qsl(body.decode("ascii", "replace")))


def _place_here(to: str) -> str:
    """Return an address of the page; anything else would lead away."""
    is_here = to == PAGE_PATH or to.startswith((f"{PAGE_PATH}/", f"{PAGE_PATH}?"))
    is_form = to.startswith((page_url("login"), page_url("logout")))
    return to if is_here and not is_form and clean_line(to) == to else page_url()


def _see_other(
    to: str, request: Request | None = None, session: PageSession | None = None
) -> Response:
    """Return a redirect; with a session it sets the cookie, without a value ends it."""
    response = RedirectResponse(to, HTTPStatus.SEE_OTHER, {"Cache-Control": "no-store"})
    if request is not None and session is not None:
        response.set_cookie(
            COOKIE,
            session.value,
            max_age=session.seconds,
            path=PAGE_PATH,
            secure=_scheme(request) == "https",
            httponly=True,
            samesite="strict",
        )
    return response


def _scheme(request: Request) -> str:
    # The client's word is enough: a wrong one only keeps its own cookie from working.
    sent = request.headers.get("x-forwarded-proto", "")
    return "https" if sent == "https" else request.url.scheme
