"""Examine a caption or image: prompts, questions, and reading of the replies."""

from __future__ import annotations

from collections.abc import Mapping

from caliper.benchmarks.base import Settings, fence, lacks_caption
from caliper.benchmarks.captionqa.domains import DOMAINS, is_domain_name
from caliper.benchmarks.captionqa.options import label
from caliper.benchmarks.captionqa.questions import ChoiceQuestion
from caliper.benchmarks.captionqa.reading import READERS
from caliper.benchmarks.captionqa.scoring import WRONG, score
from caliper.benchmarks.captionqa.settings import chosen
from caliper.benchmarks.captionqa.taxonomy import hints
from caliper.benchmarks.exchanges import UNREADABLE, Reading, Result, examine_each
from caliper.benchmarks.truncation import certain_part
from caliper.core.errors import UnknownName
from caliper.core.outcome import Evidence, Reason, Scored, Unscored
from caliper.core.question import Ask, Decoding, Examination, Item, Question, Source
from caliper.core.report import Generation


def examine(item: Item, caption: str | None, settings: Settings) -> Examination:
    """Ask all questions of the item at once, and return their verdicts in index order.

    A missing caption makes each question Unscored(no_caption), without a call. A blank one is
    sent to the reader (released script) unless the settings leave it unscored.
    """
    no_caption = lacks_caption(item, caption, settings)
    reading = chosen(settings, "reading")

    def settle(question: Question[ChoiceQuestion], repeat: int) -> Ask | Result:
        if no_caption:
            return Unscored(Reason.NO_CAPTION), Evidence()
        return ask(item, question, repeat, caption, settings)

    return examine_each(
        item,
        settle,
        lambda request, reply: read_outcome(request, reply, reading),
        lambda request, reply: read_outcome(request, reply, reading, truncated=True),
    )


def read_outcome(request: Ask, reply: str, reading: str, *, truncated: bool = False) -> Reading:
    """Read the outcome of a reply. An unreadable one is wrong if `released`, else Unscored."""
    payload = request.question.payload
    if truncated and reading != "released":
        reply = certain_part(reply, payload.options)
    choice = READERS[reading](reply, payload.options, payload.question)
    if choice.place is not None:
        said = f"chose {payload.options[choice.place]}"
        return Reading(Scored(score(payload, choice.place)), said, choice.repaired)
    if reading == "released":
        return Reading(Scored(WRONG), "unreadable, which the released script counts as wrong")
    return Reading(UNREADABLE, "no option could be read from the reply")


CAPTION_PROMPTS = ("simple", "short", "long", "taxonomy")
"""The four caption prompts of paper 3.3, the default first."""

READER = "captionqa/reader"
READER_ON_IMAGE = "captionqa/reader_on_image"


def caption_template(domain: str, prompt: str) -> tuple[str, Mapping[str, str]]:
    """Return the template and fields of a caption prompt.

    Only the taxonomy prompt depends on the domain; a user's own domain has no printed nodes. Raises
    UnknownName if `domain` cannot be one.
    """
    if prompt != "taxonomy":
        return f"captionqa/caption_{prompt}", {}
    if not is_domain_name(domain):
        raise UnknownName("domain", domain, DOMAINS)
    nodes = hints(domain) if domain in DOMAINS else ""
    return f"captionqa/caption_{prompt}", {"taxonomy": nodes}


def ask(
    item: Item,
    question: Question[ChoiceQuestion],
    repeat: int,
    caption: str | None,
    settings: Settings,
) -> Ask:
    """Ask for the letter of an option, with temperature and token limit from the settings.

    The prompt starts with the caption, if any, so that all questions about it share a prefix in
    the server's prefix cache.
    """
    payload = question.payload
    # One prompt for all blank captions.
    text = caption if caption and caption.strip() else ""
    fields = {"question": payload.question, "options": format_options(payload.options)}
    on_image = item.source is Source.MEDIA
    return Ask(
        item=item,
        question=question,
        repeat=repeat,
        prompt=READER_ON_IMAGE if on_image else READER,
        fields=fields if on_image else {"caption": text, **fields},
        decoding=_decoding(settings),
        untrusted="" if on_image else "caption",
        fence="" if on_image else fence(settings, caption or ""),
    )


def generation(source: Source, settings: Settings, repeats: int | None) -> Generation:
    """Return the template, decoding and repeats that `ask` uses under these settings."""
    prompt = READER_ON_IMAGE if source is Source.MEDIA else READER
    return Generation((prompt,), _decoding(settings), repeats or 1)


def _decoding(settings: Settings) -> Decoding:
    temperature = float(chosen(settings, "temperature"))
    return Decoding(temperature, max_tokens=int(chosen(settings, "max_tokens")))


def format_options(options: tuple[str, ...]) -> str:
    """Format the options, one per line, each after its letter."""
    return "\n".join(f"{label(place)}. {text}" for place, text in enumerate(options))
