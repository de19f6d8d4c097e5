"""Every expression that meets a reply or a caption reads 65,536 characters in 50 ms of CPU, on a
machine that is not slower than the one where the peer was timed.

This is the exception to the rule that tests assert no times: nothing else shows that a text makes
an expression slow, and captions may be written to do so. It counts CPU time, against a peer.

The texts are made from the expression itself: what leads to each of its repeats, then that repeat
without end, and neither the end that it hopes for.
"""

import importlib
import inspect
import math
import pkgutil
import re
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

import caliper

SIZE = 65_536
MOST_SECONDS = 0.05
PEER, PEER_SECONDS = re.compile(r"\b(?:[a-z']+ ){0,4}?end\b"), 0.0055
PEER_READS = "a " * (SIZE // 2)
LESS = (1_024, 2_048, 4_096, 8_192, 16_384, 32_768)
"""What is read first, each twice the one before: enough for nearly all."""
SPARE = 1.25
"""How much faster than so far the time may grow."""
# What reads replies and captions.
ROOMS = ("core", "benchmarks", "lexical", "pipeline", "adapters.models.context")
ROOMS += (
    "cli.canary",
    "adapters.models.chat_template",
    "adapters.language",
    "adapters.wire",
    "adapters.exports",
)
CHARACTERS = " \na1A_.,;:!?\"'`(){}[]<>/\\|-*#&~\u4e2d\u00e9\u0301\u200d\x00"
RUNS = (
    " ",
    "\n",
    "a",
    "A",
    "1",
    "a ",
    "A.",
    "a\n",
    '"',
    "'",
    "(",
    "{",
    "<",
    "[",
    ". ",
    "no ",
    "is ",
)
# It meets messages of our own.
ELSEWHERE = ("pipeline.store.store_supplies._ON_DISK",)
# It makes a token of every sign, and no service reads with it: a quarter of the text will do.
SLOWER = {"lexical.treebank._RULES": 8}
RUNS += ("answer ", "the caption says ", '{"score": ')
USED = re.compile(r"\b(\w+)\.(search|match|fullmatch|split|sub)\(")
parser: Any = importlib.import_module("re._parser")
compiler: Any = importlib.import_module("re._compiler")


def modules() -> Iterator[Any]:
    for found in pkgutil.walk_packages(caliper.__path__, "caliper."):
        room = found.name.removeprefix("caliper.")
        if any(room == each or room.startswith(f"{each}.") for each in ROOMS):
            yield importlib.import_module(found.name)


def inside(name: str, value: object) -> Iterator[tuple[str, re.Pattern[str]]]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield name, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from inside(f"{name}[{key}]", inner)
    elif isinstance(value, tuple | list | set | frozenset):
        for place, inner in enumerate(value):
            yield from inside(f"{name}[{place}]", inner)


def expressions() -> dict[str, tuple[re.Pattern[str], frozenset[str]]]:
    """The expressions by name, each with the methods that its module calls on it."""
    found = {}
    known: set[int] = set()
    for module in modules():
        uses: dict[str, set[str]] = defaultdict(set)
        for name, method in USED.findall(inspect.getsource(module)):
            uses[name].add(method)
        for name, value in vars(module).items():
            if name.startswith("__"):
                continue
            for place, pattern in inside(
                f"{module.__name__.removeprefix('caliper.')}.{name}", value
            ):
                if id(pattern) not in known and place not in ELSEWHERE:
                    known.add(id(pattern))
                    found[place] = (pattern, frozenset(uses[name]))
    return found


EXPRESSIONS = expressions()


class Hostile:
    """Texts for one expression: (beginning, what is repeated)."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.tree = parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
        self.found: dict[tuple[str, str], None] = dict.fromkeys(("", run) for run in RUNS)
        self._walk(self.tree, "")

    def characters(self, node: tuple[Any, Any]) -> list[str]:
        """Up to two characters that a node for one character matches."""
        one = compiler.compile(parser.SubPattern(self.tree.state, [node]))
        return [each for each in CHARACTERS if one.match(each)][:2] or ["\u2603"]

    def example(self, tree: Any) -> str:
        """A short text that the tree matches, but for what it looks at without taking it."""
        return "".join(self._example(node) for node in tree)

    def _example(self, node: tuple[Any, Any]) -> str:
        match str(node[0]), node[1]:
            case "LITERAL", code:
                found = chr(code)
            case "IN" | "NOT_LITERAL" | "ANY", _:
                found = self.characters(node)[0]
            case "BRANCH", (_, branches):
                found = self.example(branches[0])
            case "SUBPATTERN", (_, _, _, inner):
                found = self.example(inner)
            case "ATOMIC_GROUP", inner:
                found = self.example(inner)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT", (least, _, inner):
                found = self.example(inner) * max(1, min(least, 8))
            case _:
                found = ""
        return found

    def _walk(self, tree: Any, before: str) -> None:
        for node in tree:
            kind, of = str(node[0]), node[1]
            if kind == "BRANCH":
                for branch in of[1][:40]:
                    self._walk(branch, before)
            elif kind == "SUBPATTERN":
                self._walk(of[3], before)
            elif kind in ("ASSERT", "ASSERT_NOT"):
                self._walk(of[1], before)
            elif kind == "ATOMIC_GROUP":
                self._walk(of, before)
            elif kind.endswith("_REPEAT") and of[1] > 1:
                self._repeat(of[2], before)
                self._walk(of[2], before)
            before = (before + self._example(node))[-200:]
        self.found[before, before] = None

    def _repeat(self, tree: Any, before: str) -> None:
        units = {self.example(tree)}
        if len(tree) == 1 and str(tree[0][0]) in ("IN", "NOT_LITERAL", "ANY"):
            units |= set(self.characters(tree[0]))
        for unit in units:
            self.found[before, unit] = None
            self.found["", before + unit] = None
            self.found[before, f"{unit} "] = None

    def texts(self) -> Iterator[tuple[str, str]]:
        return ((before, unit) for before, unit in self.found if unit)


def text(before: str, unit: str, size: int) -> str:
    return (before + unit * (size // len(unit)))[: size - 1] + "\x01"


def run(pattern: re.Pattern[str], uses: frozenset[str]) -> Callable[[str], object]:
    """What is done with a text: what the module does, and else looking for all matches."""
    if uses and uses <= {"match", "fullmatch"}:
        return pattern.match if "match" in uses else pattern.fullmatch
    return lambda text: deque(pattern.finditer(text), maxlen=0)


def seconds(act: Callable[[str], object], read: str) -> float:
    start = time.process_time()
    act(read)
    return time.process_time() - start


def slowness() -> float:
    """How much slower the machine is now than the one where the peer was timed; 1 at least."""
    return max(1.0, seconds(run(PEER, frozenset()), PEER_READS) / PEER_SECONDS)


def is_fast(act: Callable[[str], object], before: str, unit: str, size: int, most: float) -> bool:
    """Whether less of a text is read so fast that the whole would do were it quadratic, or were its
    time to grow as it did so far, with some to spare.
    """
    last = 0.0
    for less in LESS:
        if less >= size:
            break
        took = seconds(act, text(before, unit, less))
        growth = min(4.0, SPARE * max(2.0, took / last)) if last else 4.0
        if took * growth ** math.log2(size / less) < most:
            return True
        last = took
    return False


def fair_seconds(act: Callable[[str], object], read: str, most: float) -> float:
    """The least of some tries, each by the slowness of its moment. What keeps the bound, or is far
    beyond it, is not tried again.
    """
    # Slowness only makes it less: what keeps the bound as it is needs no peer.
    least = seconds(act, read)
    if least < most:
        return least
    for _ in range(12):
        before, took = slowness(), seconds(act, read)
        least = min(least, took / min(before, slowness()))
        if least < most or least > 4 * most:
            break
    return least


def test_there_are_expressions_of_every_kind() -> None:
    names = {name.partition("[")[0] for name in EXPRESSIONS}
    assert len(EXPRESSIONS) > 80
    assert {"core.fence._MARK", "core.suspicion._PATTERNS", "benchmarks.literals._STRING"} <= names


def possessive_groups(tree: Any) -> Iterator[Any]:
    """The possessive repeats of more than one character in a tree of an expression."""
    nodes = tree.data if isinstance(tree, parser.SubPattern) else tree
    if isinstance(nodes, tuple) and nodes and str(nodes[0]) == "POSSESSIVE_REPEAT":
        _, (_, _, inner) = nodes
        if not single(inner):
            yield nodes
    if isinstance(nodes, tuple | list):
        for node in nodes:
            yield from possessive_groups(node)


def single(tree: Any) -> bool:
    return len(tree) == 1 and str(tree[0][0]) in ("LITERAL", "NOT_LITERAL", "IN", "ANY")


def test_no_group_is_repeated_possessively() -> None:
    # Before Python 3.11.5 such a repeat takes what its last, failing round had matched
    # (python/cpython#106052). An atomic group is right in all releases.
    assert list(possessive_groups(parser.parse("(a(?:b?c)++d)|e++")))
    assert not [
        name
        for name, (pattern, _) in EXPRESSIONS.items()
        if list(possessive_groups(parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)))
    ]


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_no_text_takes_an_expression_long(name: str) -> None:
    pattern, uses = EXPRESSIONS[name]
    act, hostile = run(pattern, uses), Hostile(pattern)
    size = SIZE // 4 if name in SLOWER else SIZE
    most = MOST_SECONDS * SLOWER.get(name, 1) * size / SIZE
    for before, unit in hostile.texts():
        if not is_fast(act, before, unit, size, most):
            took = fair_seconds(act, text(before, unit, size), most)
            assert took < most, f"{name}: {took:.3f} s for {before!r} and {unit!r} repeated"
