"""The review page, asked as a browser asks it."""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from tests.fakes.candidate_reviews import CATEGORIES, assessed, review
from tests.fakes.review_browsers import Reviewer, reviewing

from caliper.benchmarks.capability.tasks import TASKS
from caliper.building.candidates import AssessedCandidate, CandidateDecision
from caliper.building.capability.annotations import annotation
from caliper.building.capability.kind import CAPABILITY
from caliper.building.review_round import second_round
from caliper.building.reviews import ReviewVerdict, last_reviews
from caliper.local.review_files import review_file

ACCEPT, EDIT, REJECT, _ = ReviewVerdict
QUESTIONS = assessed(4)
IDS = [each.candidate.id for each in QUESTIONS]
HOSTILE = "</title><script>alert(1)</script><img src=x onerror=alert(1)>\udc80"


@pytest.fixture
async def ana(tmp_path: Path) -> AsyncIterator[Reviewer]:
    async with reviewing(tmp_path, QUESTIONS) as there:
        yield there


def title(page: str) -> str:
    found = re.search(r"<title>\s*(.*?) · Caliper", page)
    assert found is not None
    return unescape(found[1])


def status(page: str) -> str:
    found = re.search(r'role="status">(.*?)</p>', page)
    assert found is not None
    return unescape(found[1])


def progress(page: str) -> str:
    found = re.search(r'for="progress">(.*?)</label>', page)
    assert found is not None
    return found[1]


async def test_a_question_is_shown_with_its_options_category_and_reasons(ana: Reviewer) -> None:
    page = await ana.ask()
    assert title(page) == "Question 1 of 4"
    assert progress(page) == "0 of 4 reviewed"
    assert "What is it, number 0?" in page
    assert '<li class="answer">a cat 0 <em>proposed answer</em></li>' in page
    assert f"<dd>{CATEGORIES[0]}</dd>" in page
    assert "<dd>one of two</dd>" in page
    assert "Your verdict" not in page
    assert await ana.ask(f"picture?id={IDS[0]}") == "picture0.jpg"
    assert "<svg" in await ana.ask(f"picture?id={IDS[2]}")
    await ana.ask(f"picture?id={IDS[1]}")
    assert ana.pictures == ["picture0.jpg", "picture1.jpg"]


async def test_a_verdict_is_saved_and_the_next_question_shown(ana: Reviewer) -> None:
    page = await ana.judge(IDS[0], "accept")
    assert status(page) == "Saved: accept question 1."
    assert title(page) == "Question 2 of 4"
    page = await ana.judge(IDS[1], "reject", reason="several options are right")
    assert status(page) == "Saved: reject question 2."
    await ana.judge(IDS[3], "reject", reason="no option is right", other=" too dark\r\nto see ")
    page = await ana.judge(IDS[2], "accept", category="")
    assert progress(page) == "4 of 4 reviewed"
    assert "All questions here are reviewed." in page
    first, second, fourth, third = ana.file.read()
    assert first == replace(review(QUESTIONS[0].candidate), time="2026-01-01T00:00:00Z")
    assert (second.reason, fourth.reason) == ("several options are right", "too dark\nto see")
    assert third.verdict is ACCEPT
    assert "<strong>reject</strong>: too dark" in await ana.ask(f"?at={IDS[3]}")


async def test_a_reviewer_resumes_and_goes_back_and_forth(ana: Reviewer, tmp_path: Path) -> None:
    await ana.judge(IDS[0], "accept")
    async with reviewing(tmp_path, QUESTIONS) as again:
        page = await again.ask()
        assert title(page) == "Question 2 of 4"
        (back,) = re.findall(r'href="/secret/([^"]*)" rel="prev"', page)
        assert "<strong>accept</strong>" in await again.ask(unescape(back))
        (forth,) = re.findall(r'href="/secret/([^"]*)" rel="next"', page)
        assert title(await again.ask(unescape(forth))) == "Question 3 of 4"


async def test_an_edit_is_checked_and_nothing_of_it_is_lost(ana: Reviewer) -> None:
    form = {"question": "What else is it?", "choice": ["a cat", "a horse", "", ""]}
    page = await edit(ana, form | {"answer": "2"}, 400)
    assert "Not saved: answer is not an option." in page
    assert '<details id="edit" open>' in page
    assert ">What else is it?</textarea>" in page
    assert 'value="a horse"' in page
    assert "Not saved: choose the option" in await edit(ana, form, 400)
    assert "equal options: a cat; A cat" in await edit(
        ana, form | {"choice": ["a cat", "A  cat"], "answer": "0"}, 400
    )
    assert ana.said() == []
    page = await edit(ana, form | {"answer": "1"})
    assert status(page) == "Saved: edit question 1."
    (line,) = ana.file.read()
    assert (line.question, line.choices, line.answer) == (
        "What else is it?",
        ("a cat", "a horse"),
        "a horse",
    )
    assert ">What else is it?</textarea>" in await ana.ask(f"?at={IDS[0]}")


async def edit(ana: Reviewer, form: dict[str, Any], expected: int = 200) -> str:
    fields = [("id", IDS[0]), ("verdict", "edit")]
    for name, value in form.items():
        fields += [(name, each) for each in ([value] if isinstance(value, str) else value)]
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{ana.home}verdict", data=fields) as answer,
    ):
        assert answer.status == expected
        return await answer.text()


async def test_an_edit_that_changes_nothing_is_an_accept(ana: Reviewer) -> None:
    candidate = QUESTIONS[0].candidate
    form = {"question": candidate.question, "choice": list(candidate.choices), "answer": "0"}
    await edit(ana, form)
    assert ana.said() == [(IDS[0], "accept")]


async def test_undo_withdraws_verdict_by_verdict(ana: Reviewer) -> None:
    await ana.judge(IDS[0], "accept")
    await ana.judge(IDS[1], "accept")
    page = await ana.judge(IDS[0], "reject", reason="unclear")
    assert progress(page) == "2 of 4 reviewed"
    page = await ana.ask("undo", id=IDS[0])
    assert status(page) == "Saved: accept question 1."
    assert title(page) == "Question 1 of 4"
    page = await ana.ask("undo", id=IDS[1], category=CATEGORIES[0])
    assert (status(page), title(page)) == ("Undone: question 2 has no verdict.", "Question 2 of 4")
    page = await ana.ask("undo", 409, id=IDS[1])
    assert "the last verdict is another one by now" in page
    await ana.ask("undo", id=IDS[0])
    assert progress(await ana.ask()) == "0 of 4 reviewed"
    assert "Undo" not in await ana.ask()


async def test_two_browsers_of_one_reviewer_do_no_harm(ana: Reviewer, tmp_path: Path) -> None:
    async with reviewing(tmp_path, QUESTIONS) as other:
        await asyncio.gather(*(each.judge(at, "accept") for at in IDS[:3] for each in (ana, other)))
        assert sorted(ana.said()) == sorted((at, "accept") for at in IDS[:3] * 2)
        await other.judge(IDS[0], "reject", reason="unclear")
        assert "<strong>reject</strong>" in await ana.ask(f"?at={IDS[0]}")
        assert progress(await ana.ask()) == "3 of 4 reviewed"


async def test_questions_are_filtered_by_category(ana: Reviewer) -> None:
    page = await ana.judge(IDS[0], "accept", category=CATEGORIES[0])
    assert (progress(page), title(page)) == ("1 of 2 reviewed", "Question 2 of 2")
    assert "number 2?" in page
    assert f"{CATEGORIES[1]} (2)" in page
    assert "No questions here." in await ana.ask("?category=none")


async def test_nothing_is_saved_that_is_no_verdict(ana: Reviewer) -> None:
    assert "choose a reason" in await ana.judge(IDS[0], "reject", 400)
    assert "no verdict" in await ana.judge(IDS[0], "undo", 400)
    assert "no question" in await ana.judge("nobody", "accept", 404)
    ana.full = True
    page = await ana.judge(IDS[0], "accept", 503)
    assert "disk full" in page
    assert "Saved" not in page
    assert ana.said() == []


async def test_only_who_has_the_token_sees_or_writes(ana: Reviewer) -> None:
    home = ana.home
    for wrong in ("/", "/wrong/"):
        ana.home = home.replace("/secret/", wrong)
        page = await ana.ask("", 404)
        page += await ana.judge(IDS[0], "accept", 404)
        assert "secret" not in page
    async with aiohttp.ClientSession() as session:
        other = {"Host": "evil.example"}
        async with session.get(home, headers=other) as answer:
            assert answer.status == 403
            assert "secret" not in await answer.text()
        form = {"id": IDS[0], "verdict": "accept"}
        async with session.post(f"{home}verdict", data=form, headers=other) as answer:
            assert answer.status == 403
    assert ana.said() == []


async def test_texts_of_candidates_are_only_text(tmp_path: Path) -> None:
    candidate = replace(
        QUESTIONS[0].candidate,
        image=HOSTILE,
        question=HOSTILE,
        choices=(HOSTILE, "b"),
        answer=HOSTILE,
        category=HOSTILE,
        flags=(HOSTILE,),
    )
    hostile = [replace(QUESTIONS[0], candidate=candidate, reasons=(HOSTILE,))]
    async with reviewing(tmp_path, hostile) as there:
        page = await there.ask()
        assert page.count("<script>") == 1
        assert "<img src=x" not in page
        async with aiohttp.ClientSession() as session, session.get(there.home) as answer:
            policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "form-action 'self'" in policy
        assert "unsafe" not in policy
        (meta,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
        assert unescape(meta) in policy
        page = await there.judge(IDS[0], "accept")
        assert status(page) == "Saved: accept question 1."


async def test_others_are_seen_in_the_second_round_after_the_own_verdict(tmp_path: Path) -> None:
    asked = [each.candidate for each in QUESTIONS]
    bob = [review(asked[0], REJECT), review(asked[1]), review(asked[2], EDIT, "Why?")]
    for line in (review(asked[0]), review(asked[1])):
        review_file(tmp_path, "ana").append(line)
    carl = [review(asked[2]), review(asked[3])]
    reviews = {"ana": review_file(tmp_path, "ana").read(), "bob": bob, "carl": carl}
    disputed = second_round(QUESTIONS, reviews)
    assert [each.candidate.id for each in disputed] == [IDS[0], IDS[2]]
    others = {name: last_reviews(reviews[name]) for name in ("bob", "carl")}
    async with reviewing(tmp_path, disputed, others=others) as ana:
        page = await ana.ask()
        assert (title(page), progress(page)) == ("Question 1 of 2", "0 of 2 reviewed")
        assert "<dt>bob</dt><dd>" in page
        assert "several options are right" in page
        page = await ana.judge(IDS[0], "reject", reason="unclear")
        assert progress(page) == "1 of 2 reviewed"
        assert "bob" not in page
        await ana.judge(IDS[2], "accept")
        page = await ana.ask(f"?at={IDS[2]}")
        assert "<dt>carl</dt><dd>" in page
        assert "Why?" in page
        assert [each.round for each in ana.file.read()] == [1, 1, 2, 2]
        await ana.ask("undo", id=IDS[2])
        await ana.ask("undo", id=IDS[0])
        assert "<strong>accept</strong>" in await ana.ask(f"?at={IDS[0]}")
        assert "Undo" not in await ana.ask()


async def test_annotations_are_reviewed_by_their_value(tmp_path: Path) -> None:
    said = [("object_color", "red", "cup"), ("style", "realistic", ""), ("action", "waving", "")]
    asked = [annotation(TASKS[task], "a.jpg", value, name) for task, value, name in said]
    questions = [AssessedCandidate(each, CandidateDecision.REVIEW) for each in asked]
    async with reviewing(tmp_path, questions, CAPABILITY) as there:
        page = await there.ask()
        assert title(page) == "Annotation 1 of 3"
        assert ">Object color: cup</h2>" in page
        assert '<p class="value">red</p>' in page
        assert '<textarea name="question"' not in page
        color, style, action = (each.id for each in asked)
        assert "Not saved: annotation without content" in await there.judge(
            color, "edit", 400, value=" "
        )
        page = await there.judge(color, "edit", value="dark red")
        assert status(page) == "Saved: edit annotation 1."
        assert page.count('type="radio" name="answer"') == len(TASKS["style"].labels)
        assert '<input name="choice"' not in page
        page = await there.judge(style, "edit", answer="4", choice=["forged"])
        assert '<details id="edit"' not in page
        assert "accepted or rejected as it is" in await there.judge(
            action, "edit", 400, value="running"
        )
        texts = [(line.question, line.answer) for line in there.file.read()]
        assert texts == [("cup", "dark red"), ("Style", "pixel art")]
