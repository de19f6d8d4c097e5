"""The review page of a benchmark that is being built: one reviewer, one browser on this machine.

Its address has a token, as it writes: no other user of this machine may judge in the reviewer's
name. The state of a round is the reviewer's file alone, which is read for every request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from http import HTTPStatus

from aiohttp import hdrs, web
from cachetools import LRUCache

from caliper.adapters.pages.live import render_trouble
from caliper.adapters.pages.review import (
    ReviewEdit,
    ReviewPlace,
    ReviewProblem,
    render_review,
    review_policy,
)
from caliper.building.candidates import LONGEST_TEXT, Candidate
from caliper.building.kinds import BuildKind
from caliper.building.review_round import ReviewRound
from caliper.building.reviews import Review, ReviewVerdict, review_verdict
from caliper.core.errors import InvalidInput, NotReady
from caliper.serving.pages import page_response, picture_response
from caliper.serving.threads import finish_in_thread

_PICTURES_CACHED = 16


@dataclass(frozen=True, slots=True)
class ReviewSources:
    """The data of the page. `read` gives the round as the reviewer's file has it now,
    `append` returns when a line is on the disk, `picture` gives the JPEG of what the kind of build
    names, or None.
    """

    kind: BuildKind
    reviewer: str
    read: Callable[[], ReviewRound]
    append: Callable[[Review], None]
    picture: Callable[[str], bytes | None]
    now: Callable[[], datetime]


class ReviewPages:
    """Converts requests to lines of the reviewer's file, and renders the page below `/TOKEN/`."""

    def __init__(self, sources: ReviewSources, token: str) -> None:
        self._sources, self.home = sources, f"/{token}/"
        self._writing = asyncio.Lock()
        self._decoding = asyncio.Lock()
        self._pictures: LRUCache[str, bytes] = LRUCache(_PICTURES_CACHED)

    def routes(self) -> Sequence[web.RouteDef]:
        """The routes of the page."""
        return (
            web.get(self.home, self.show),
            web.get(f"{self.home}picture", self.picture),
            web.post(f"{self.home}verdict", self.judge),
            web.post(f"{self.home}undo", self.undo),
        )

    async def show(self, request: web.Request) -> web.Response:
        """A question; without one in the address, the first that has no verdict."""
        current = await self._read()
        at, category, saved = (request.query.get(each, "") for each in ("at", "category", "saved"))
        if at:
            current.question(at)
        return self._page(self._place(current, category, at or current.next_open(category), saved))

    async def picture(self, request: web.Request) -> web.Response:
        """The picture of a question, or a placeholder."""
        current = await self._read()
        image = self._sources.kind.picture(current.question(request.query.get("id", "")).candidate)
        async with self._decoding:
            jpeg = self._pictures.get(image)
            if jpeg is None:
                jpeg = await finish_in_thread(partial(self._sources.picture, image))
            if jpeg is not None:
                self._pictures[image] = jpeg
        return picture_response(jpeg)

    async def judge(self, request: web.Request) -> web.Response:
        """Save a verdict, and go on to the next question without one."""
        form = await _form(request)
        async with self._writing:
            current = await self._read()
            candidate = current.question(form.at).candidate
            try:
                review = self._review(candidate, form, current.line_round(form.at))
            except InvalidInput as error:
                problem = ReviewProblem(form.verdict, error.message, form.edit)
                return self._page(self._place(current, form.category, form.at), problem)
            await asyncio.to_thread(self._sources.append, review)
            current = await self._read()
        place = self._place(current, form.category)
        return _redirect(place.address(current.next_open(form.category, form.at), saved=form.at))

    async def undo(self, request: web.Request) -> web.Response:
        """Withdraw the last verdict, if it still is the one that the page showed as the last."""
        form = await _form(request)
        async with self._writing:
            current = await self._read()
            candidate = current.question(form.at).candidate
            if current.latest is None or current.latest.id != form.at:
                raise NotReady("the last verdict is another one by now: go back and reload")
            line = self._line(ReviewVerdict.UNDO, candidate, current.line_round(form.at))
            await asyncio.to_thread(self._sources.append, line)
        category = form.category if form.category == candidate.category else ""
        place = self._place(current, category)
        return _redirect(place.address(form.at, saved=form.at))

    async def _read(self) -> ReviewRound:
        return await asyncio.to_thread(self._sources.read)

    def _review(self, candidate: Candidate, form: ReviewForm, number: int) -> Review:
        """The line of a submitted verdict. Raises InvalidInput if it is not usable."""
        if form.verdict == ReviewVerdict.ACCEPT:
            return self._line(ReviewVerdict.ACCEPT, candidate, number)
        if form.verdict == ReviewVerdict.REJECT:
            if not form.reason or len(form.reason) > LONGEST_TEXT:
                raise InvalidInput("choose a reason, or write a short one")
            line = self._line(ReviewVerdict.REJECT, candidate, number)
            return replace(line, reason=form.reason)
        if form.verdict != ReviewVerdict.EDIT:
            raise InvalidInput(f"no verdict {form.verdict!r:.40}")
        kind = self._sources.kind
        editable = kind.editable(candidate)
        if not editable:
            raise InvalidInput(f"this {kind.noun} is accepted or rejected as it is")
        texts = kind.edited(candidate, form.edit.texts(candidate, editable))
        line = self._line(ReviewVerdict.EDIT, texts, number)
        return replace(line, verdict=review_verdict(candidate, line))

    def _line(self, verdict: ReviewVerdict, texts: Candidate, number: int) -> Review:
        return Review(
            id=texts.id,
            verdict=verdict,
            question=texts.question,
            choices=texts.choices,
            answer=texts.answer,
            reason="",
            time=self._sources.now().strftime("%Y-%m-%dT%H:%M:%SZ"),
            round=number,
        )

    def _place(
        self, current: ReviewRound, category: str, at: str = "", saved: str = ""
    ) -> ReviewPlace:
        sources = self._sources
        return ReviewPlace(self.home, sources.kind, sources.reviewer, current, category, at, saved)

    def _page(self, place: ReviewPlace, problem: ReviewProblem | None = None) -> web.Response:
        status = 200 if problem is None else 400
        return page_response(render_review(place, problem), review_policy(), status)


@dataclass(frozen=True, slots=True)
class ReviewForm:
    """The form that a browser submits about the question `at`."""

    at: str
    category: str
    verdict: str
    reason: str
    edit: ReviewEdit


async def _form(request: web.Request) -> ReviewForm:
    posted = await request.post()
    fields = {name: value for name, value in posted.items() if isinstance(value, str)}
    choices = [_trimmed(each) for each in posted.getall("choice", []) if isinstance(each, str)]
    answer = fields.get("answer", "")
    return ReviewForm(
        at=fields.get("id", ""),
        category=fields.get("category", ""),
        verdict=fields.get("verdict", ""),
        reason=_trimmed(fields.get("other") or fields.get("reason", "")),
        edit=ReviewEdit(
            question=_trimmed(fields.get("question", "")),
            choices=tuple(choices),
            answer=int(answer) if answer.isdecimal() and len(answer) < 3 else -1,
            value=_trimmed(fields.get("value", "")),
        ),
    )


def _trimmed(text: str) -> str:
    # Forms are sent with line ends of two characters.
    return text.replace("\r\n", "\n").strip()


def _redirect(address: str) -> web.Response:
    return web.Response(status=HTTPStatus.SEE_OTHER, headers={hdrs.LOCATION: address})


def review_error(status: int, message: str) -> web.Response:
    """An error page without links: it is also sent to callers without the token."""
    return page_response(render_trouble(HTTPStatus(status).phrase, message, home=()), status=status)
