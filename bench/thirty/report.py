"""Prints what became of thirty checkpoints of known quality, by the real servers, unattended.

`python -m bench thirty`. PICTURES and QUESTIONS set the size of the benchmark (pictures of each of
four domains, questions each), FLIPS the share of verdicts that the judge flips, KILL_SECONDS how
often the loop is killed, PATHS the number of redraws. KEEP names a folder to keep all of it in; if
it has been run there, only the tables are printed again.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.sequential.recorded_pair import redraw_pair
from bench.sequential.report import print_errors
from bench.thirty.course import Course, follow, real_servers
from bench.thirty.questions import RULES_KNOW, ColourQuestions
from bench.thirty.savings import (
    ALPHA,
    MARGIN,
    WAYS,
    RecordedCheckpoint,
    RecordedVerdicts,
    changes,
    decide,
    needed,
    recorded,
    squared_correlation,
)
from bench.thirty.schedule import Schedule, schedule
from caliper.analysis.sequential import Finding, Measure

BENCHMARK = ColourQuestions(
    int(os.environ.get("PICTURES", "45")), int(os.environ.get("QUESTIONS", "30"))
)
FLIPS = float(os.environ.get("FLIPS", "0"))
KILL_SECONDS = float(os.environ.get("KILL_SECONDS", "120"))
PAUSE = 5.0
PATHS = int(os.environ.get("PATHS", "10000"))
REDRAWN = 6
_LARGE_DROP = -3.0


def course(folder: Path) -> Course:
    """The course that was recorded in a folder, or a new one."""
    file = folder / "course.json"
    if not file.exists():
        with real_servers(folder, BENCHMARK) as servers:
            plan = schedule(PAUSE)
            found = asyncio.run(follow(servers, folder, plan, KILL_SECONDS, FLIPS))
        file.write_text(json.dumps(asdict(found)), "utf-8")
    return Course(**json.loads(file.read_text("utf-8")))


def main() -> None:
    """Run it, and print the tables."""
    with ExitStack() as stack:
        keep = os.environ.get("KEEP")
        folder = Path(keep or stack.enter_context(TemporaryDirectory())).absolute()
        folder.mkdir(exist_ok=True)
        found, plan = course(folder), schedule(PAUSE)
        print_course(found, plan)
        verdicts = RecordedVerdicts(BENCHMARK, folder / "runs", FLIPS)
        compared = list(_compared(found, plan, verdicts))
        print_checkpoints(found, compared)
        print_rules(compared)
        print_savings(found, compared)
        print_redraws(compared)


def _compared(
    found: Course, plan: Schedule, verdicts: RecordedVerdicts
) -> Iterator[RecordedCheckpoint]:
    """The checkpoints that were compared with another."""
    qualities = {each.name: each for each in plan.qualities}
    by_revision = {each["checkpoint"]["revision"]: each for each in found.entries}
    for entry in found.entries:
        if entry["baseline"]:
            yield recorded(verdicts, qualities, entry, by_revision[entry["baseline"]])
    if not FLIPS and verdicts.mismatches:
        raise RuntimeError(f"{verdicts.mismatches} recorded verdicts are not those of the judge")


def print_course(found: Course, plan: Schedule) -> None:
    """How the thirty were evaluated."""
    several = {name: kinds for name, kinds in found.ended.items() if len(kinds) != 1}
    names = {each.name for each in plan.qualities}
    print(
        f"thirty: {BENCHMARK.size:,} questions about {4 * BENCHMARK.pictures} pictures, the judge "
        f"flips {FLIPS:.0%}; {len(plan.deliveries) + 1} deliveries of {len(names)} checkpoints"
    )
    print(
        f"  {found.total_seconds / 60:.0f} minutes; {found.kills} kills; the loop ended by itself: "
        f"{found.failures or 'never'}; left behind: {found.left or 'nothing'}"
    )
    print(
        f"  not ended once: {several or 'none'}; not known: {names - found.ended.keys() or 'none'}"
    )
    for quality in (plan.hangs, plan.vanishes):
        entry = next(each for each in found.entries if each["checkpoint"]["name"] == quality.name)
        print(f"  {quality.name}: {entry['state']}: {entry['reason']}")
    print(f"  machine load: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print("time line of the last checkpoint, seconds after its object was put")
    for name, seconds in found.line.items():
        print(f"  {seconds:6.2f}  {name}")


def print_checkpoints(found: Course, compared: Sequence[RecordedCheckpoint]) -> None:
    """A line for each checkpoint."""
    by_name = {each.name: each for each in compared}
    print("checkpoint   set   true  state         asked  reused  saved  twice  seconds")
    for entry in found.entries:
        name = entry["checkpoint"]["name"]
        one = by_name.get(name)
        true = f"{one.gain:+5.0f} {one.difference:+6.2f}" if one else " " * 12
        print(
            f"{name:11} {true}  {entry['state']:12} {entry['asked']:6,}  {entry['reused']:6,} "
            f"{_share(entry['saved'] + entry['reused'], BENCHMARK.size)}  "
            f"{found.again.get(name, 0):5} {found.seconds.get(name, 0.0):8.0f}"
        )


def _share(part: float, whole: float) -> str:
    return f"{part / whole:6.1%}" if whole else "      "


def print_rules(compared: Sequence[RecordedCheckpoint]) -> None:
    """What rules know of verdicts, and of their changes, beside the most that they may."""
    known = {
        "verdicts": squared_correlation((each.pair.after, each.rules[1]) for each in compared),
        "changes": squared_correlation(
            (changes(each.pair.before, each.pair.after), changes(*each.rules)) for each in compared
        ),
    }
    told = (f"{name} {value:.2f} (at most {RULES_KNOW[name]})" for name, value in known.items())
    print(f"squared correlation of rules with {', with '.join(told)}")


def print_savings(found: Course, compared: Sequence[RecordedCheckpoint]) -> None:
    """Calls saved by the loop, and by each way on the recorded verdicts."""
    entries = {each["checkpoint"]["name"]: each for each in found.entries}
    seen = [
        (
            each,
            BENCHMARK.size - entries[each.name]["asked"],
            _is_right(entries[each.name]["state"], each),
        )
        for each in compared
    ]
    gains = sorted({each.gain for each in compared})
    print("calls saved at equal decisions, by the difference that was set, in points")
    print(f"{'':44}" + "".join(f"{gain:+7.0f}" for gain in gains) + "    all  wrong, undecided")
    _print_row("the loop", seen, gains)
    for way in WAYS:
        least = [(each, BENCHMARK.size - needed(each, way), True) for each in compared]
        _print_row(f"{way.name}, by arithmetic", least, gains)
    for tasks in (False, True):
        for way in WAYS:
            answers = [(each, decide(each, way, tasks=tasks)) for each in compared]
            for how in ("blocks", "asked") if tasks else ("asked",):
                rows = [
                    (
                        each,
                        BENCHMARK.size - int(getattr(answer, how)),
                        _right_finding(answer.finding, each, tasks=tasks),
                    )
                    for each, answer in answers
                ]
                what = {"blocks": ", 4 tasks, whole blocks", "asked": ", 4 tasks" * tasks}[how]
                _print_row(way.name + what, rows, gains)
    asked = sum(entry["asked"] for entry in found.entries)
    full = BENCHMARK.size * (len(compared) + 1)
    large = [each for each in seen if each[0].gain <= _LARGE_DROP]
    share = sum(each[1] for each in large) / (BENCHMARK.size * max(1, len(large)))
    print(
        f"  the loop, at drops of 3 points and more: {share:.0%}; with the first one, judged in "
        f"full: {1 - asked / full:.0%}; the judge had {found.calls:,} calls for {asked:,} questions"
    )


def _print_row(
    name: str, rows: Sequence[tuple[RecordedCheckpoint, int, bool | None]], gains: Sequence[float]
) -> None:
    def saved(chosen: Sequence[tuple[RecordedCheckpoint, int, bool | None]]) -> float:
        return sum(each[1] for each in chosen) / (len(chosen) * BENCHMARK.size)

    shares = [saved([row for row in rows if row[0].gain == gain]) for gain in gains]
    wrong = sum(row[2] is False for row in rows), sum(row[2] is None for row in rows)
    cells = "".join(f"{share:7.0%}" for share in (*shares, saved(rows)))
    print(f"{name:44}{cells}  {wrong[0]}, {wrong[1]}", flush=True)


def _is_right(state: str, found: RecordedCheckpoint) -> bool | None:
    if state not in ("passed", "regressed"):
        return None
    return (state == "regressed") == found.is_worse(tasks=False)


def _right_finding(finding: Finding, found: RecordedCheckpoint, *, tasks: bool) -> bool | None:
    if finding is Finding.UNDECIDED:
        return None
    return (finding is Finding.REGRESSED) == found.is_worse(tasks=tasks)


def print_redraws(compared: Sequence[RecordedCheckpoint]) -> None:
    """Errors at the margin in redraws of the recorded verdicts."""
    print(f"{PATHS:,} redraws of the recorded verdicts, shifted to the margin of 1 point")
    total, chosen = [0.0, 0.0], compared[:: max(1, len(compared) // REDRAWN)]
    for each in chosen:
        errors = redraw_pair(each.pair, MARGIN, Measure.MEAN, ALPHA, PATHS)
        total = [total[0] + errors.alarms, total[1] + errors.passes]
        print_errors(each.name, errors)
    alarms, passes = (each / max(1, len(chosen)) for each in total)
    print(f"  mean: false alarms {alarms:.2%}, false passes {passes:.2%}")


if __name__ == "__main__":
    main()
