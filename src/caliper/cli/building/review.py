"""`caliper build review`: a page on which people accept, edit or reject candidates."""

from __future__ import annotations

import asyncio
import secrets
import signal
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from caliper.adapters.media.thumbnails import Thumbnails
from caliper.building.kinds import BuildKind
from caliper.building.registry import kind_of
from caliper.building.review_round import ReviewRound, first_round, second_round
from caliper.building.reviews import last_reviews
from caliper.cli.console import ERR
from caliper.cli.exits import Exit
from caliper.cli.options import command_taking
from caliper.core.errors import InvalidInput
from caliper.lazy import lazy_module
from caliper.local.building.directory import BuildDirectory
from caliper.local.building.options import check_media
from caliper.local.building.outlines import OutlinedPictures
from caliper.local.review_files import (
    ReviewFile,
    all_reviews,
    read_review_candidates,
    review_file,
)
from caliper.serving.addresses import Address
from caliper.serving.web import WebServer
from caliper.wiring.clock import SystemClock

if TYPE_CHECKING:
    from caliper.serving import review_pages
else:
    review_pages = lazy_module("caliper.serving.review_pages")

# Pixels per side of a picture: more than most screens show of it, zoomed or not.
_LONGEST = 1600
_TOKEN_BYTES = 16
HELP = """Review the candidates of a build directory in the browser.

The page is for a browser on this machine; its address has a token. Keys: A accept, E edit, R and a
number reject, arrows back and forth, U undo, Z zoom. Verdicts are saved at once in
DIR/reviews/NAME.jsonl; the same command resumes the review. Ctrl-C ends it.
"""

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="The build directory.")]
Reviewer = Annotated[
    str,
    typer.Option(
        "--reviewer", metavar="NAME", help="Reviewer's name, and name of the file of verdicts."
    ),
]
Images = Annotated[Path, typer.Option("--images", help="Folder that media are relative to.")]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0: any free one.")]
Every = Annotated[bool, typer.Option("--all", help="Also candidates that the validators accepted.")]
SecondRound = Annotated[
    bool,
    typer.Option(
        "--disputed",
        help="Only disputed candidates. Their reviewers see the others' verdicts.",
    ),
]


@dataclass(frozen=True, slots=True)
class ReviewOptions:
    """The arguments and options of `caliper build review`."""

    directory: Directory
    reviewer: Reviewer
    images: Images
    port: Port = 0
    every: Every = False
    disputed: SecondRound = False


def review(options: ReviewOptions) -> int:
    """Serve the page until SIGTERM or Ctrl-C."""
    if not options.images.is_dir():
        raise InvalidInput(f"{options.images} is not a folder", field="--images")
    file = review_file(options.directory, options.reviewer)
    start = _round(options, file)
    if not start.questions:
        ERR.print(
            "Nothing is disputed."
            if options.disputed
            else "Nothing needs a review. Add --all to review all."
        )
        return Exit.DONE
    build = BuildDirectory(options.directory).read()
    pictures = {each.candidate.image for each in start.questions}
    check_media(options.images, pictures, build.get("pictures", {}))
    kind = kind_of(build.get("benchmark", "captionqa"))
    asyncio.run(_serve(options, kind, file, start))
    return Exit.DONE


def _round(options: ReviewOptions, file: ReviewFile) -> ReviewRound:
    assessed = read_review_candidates(options.directory)
    if not options.disputed:
        return ReviewRound(1, first_round(assessed, every=options.every), file.read())
    reviews = all_reviews(options.directory)
    others = {
        name: last_reviews(lines) for name, lines in reviews.items() if name != options.reviewer
    }
    return ReviewRound(2, second_round(assessed, reviews), file.read(), others)


async def _serve(
    options: ReviewOptions, kind: BuildKind, file: ReviewFile, start: ReviewRound
) -> None:
    thumbnails = Thumbnails(options.images)
    outlined = OutlinedPictures(options.images, options.directory / kind.inputs, _LONGEST)
    sources = review_pages.ReviewSources(
        kind=kind,
        reviewer=options.reviewer,
        read=lambda: start.with_lines(file.read()),
        append=file.append,
        picture=outlined.jpeg if kind.inputs else partial(thumbnails.sheet, longest=_LONGEST),
        now=SystemClock().now,
    )
    pages = review_pages.ReviewPages(sources, secrets.token_urlsafe(_TOKEN_BYTES))
    server = WebServer(
        Address("127.0.0.1", options.port), pages.routes(), review_pages.review_error, "--port"
    )
    serving = asyncio.create_task(server.run())
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, serving.cancel)
    starting = asyncio.create_task(server.started.wait())
    await asyncio.wait((serving, starting), return_when=asyncio.FIRST_COMPLETED)
    if starting.done():
        _show(sources.read(), f"Review at http://{server.address}{pages.home}")
    starting.cancel()
    await asyncio.wait((serving,))
    if not serving.cancelled():
        serving.result()
    _show(sources.read(), f"Saved in {options.directory / 'reviews'}")


def _show(current: ReviewRound, text: str) -> None:
    done = f"{len(current.done):,} of {len(current.questions):,} reviewed"
    ERR.print(f"{text} ({done})", markup=False, highlight=False, soft_wrap=True)


command = command_taking(review, ReviewOptions, help_text=HELP)
