"""object_color: does the caption give the annotated colour of the annotated object?

protocols.md 1: 0 if the object or its colour is absent; similar colours count as right.
"""

from __future__ import annotations

from functools import lru_cache

from caliper.lexical.finding import RIGHT, SILENT, WRONG, Finding
from caliper.lexical.mentions import Mention, mentions, phrase
from caliper.lexical.text import Parsed, words_of
from caliper.lexical.vocabulary import word_set

_SHADES = """
red: red reddish crimson scarlet ruby cherry vermilion maroon burgundy wine rust rusty coral brick terracotta magenta auburn rose
orange: orange orangish amber peach apricot coral tangerine rust rusty terracotta copper bronze salmon golden ginger
yellow: yellow yellowish gold golden blonde blond lemon mustard amber cream straw khaki ochre sandy
green: green greenish olive emerald lime mint jade teal khaki turquoise lush leafy chartreuse
blue: blue bluish navy azure cyan teal turquoise indigo sapphire aqua cobalt denim cerulean periwinkle
purple: purple purplish violet lavender lilac magenta indigo plum mauve maroon burgundy fuchsia
pink: pink pinkish rose magenta fuchsia salmon coral blush mauve peach
brown: brown brownish tan beige chocolate chestnut caramel bronze copper khaki wooden wood auburn rust rusty mahogany hazel tawny maroon coffee brunette golden leather sandy
beige: beige cream tan ivory khaki sandy nude taupe offwhite brown buff light
white: white whitish ivory cream snowy offwhite pearl pale eggshell light whitewashed
gray: gray grey grayish greyish silver silvery slate charcoal ash metallic steel chrome stainless concrete
silver: silver silvery metallic steel chrome gray grey stainless
gold: gold golden brass yellow bronze
black: black blackish ebony jet charcoal dark onyx
dark: dark black navy charcoal
light: light white pale beige cream
colorful: colorful colourful multicolored multicoloured rainbow vibrant colors colours multi
transparent: transparent clear translucent glass see-through
striped: striped stripes stripe
plaid: plaid checkered checked tartan gingham
floral: floral flowered flower
camouflage: camouflage camo
""".strip()  # noqa: E501 - one family of shades a line reads as the table that it is


def _families() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for line in _SHADES.splitlines():
        family, shades = line.split(":")
        for shade in shades.split():
            table.setdefault(shade, set()).add(family)
    return {shade: frozenset(names) for shade, names in table.items()}


FAMILIES = _families()
"""Colour word to the families of shades that it belongs to."""

# Words that are colours only beside a noun, never by themselves in a sentence.
_ONLY_ON_OBJECT = word_set("""
    light dark wood wooden wine cherry rose glass flower clear peach coffee leather ginger
    concrete steel pale straw lush leafy jet vibrant brick lemon lime stainless denim
""")
_SHADING = word_set("light dark bright pale deep soft rich vivid muted pastel solid")
_STOPS = word_set("""
    ; : ( ) with in on at is are was were has have by from to for as while near behind under
    beside wearing of holding that which who against featuring
""")
_LINKS = word_set("is are was were appears appear looks being colored painted dyed has have")
_ENDS = word_set("""
    ; while which standing sitting around on near by at next against over under behind from to
    with featuring
""")
_BEFORE = 6
_AFTER = 8


@lru_cache(maxsize=2048)
def annotated_colours(element: str) -> tuple[frozenset[str], ...]:
    """The families of each annotated colour: "dark blue and white" are blue, and white."""
    words = words_of(element.replace("-", " "))
    known = [word for word in words if word in FAMILIES]
    plain = [word for word in known if word not in _SHADING]
    families = [FAMILIES[word] for word in plain or known]
    if "off" in words and "white" in words:
        families.append(FAMILIES["cream"])
    return tuple(dict.fromkeys(families))


def colours_on(parsed: Parsed, mention: Mention) -> tuple[str, ...]:
    """The colour words said of a mention itself: before the noun, or after "is" or "in"."""
    low, high = parsed.sentences[parsed.sentence_of[mention.head]]
    found = []
    for at in range(mention.head - 1, max(low, mention.head - _BEFORE) - 1, -1):
        word = parsed.words[at]
        if word in FAMILIES and not parsed.negated[at]:
            found.append(word)
        elif word in _STOPS or (word in {"and", ","} and not _joins_colours(parsed, at)):
            break
    return (*found, *_colours_after(parsed, mention.head, high))


def _colours_after(parsed: Parsed, head: int, high: int) -> list[str]:
    """The colours that a link says of a noun: "is red", "painted a bright red", "in black"."""
    found: list[str] = []
    linked = False
    for at in range(head + 1, min(high, head + _AFTER + 1)):
        word = parsed.words[at]
        if word in _LINKS or (word == "in" and (at == head + 1 or _links(parsed.words[at - 1]))):
            linked = True
        elif linked and word in FAMILIES and word not in _ONLY_ON_OBJECT:
            if not parsed.negated[at]:
                found.append(word)
        elif (
            word in _ENDS
            or (word == "and" and not _joins_colours(parsed, at))
            or (found and word not in _SHADING and word not in {"and", ","})
        ):
            break
    return found


def _links(word: str) -> bool:
    return word in _LINKS or word.endswith("ed")


def _joins_colours(parsed: Parsed, at: int) -> bool:
    """Whether an "and" or comma joins two colours, or two adjectives one of which is one."""
    before = parsed.words[at - 1] if at else ""
    behind = parsed.words[at + 1 : at + 3]
    return before in FAMILIES and any(word in FAMILIES for word in behind)


def _colours_around(parsed: Parsed, found: tuple[Mention, ...]) -> list[str]:
    """Colour words in the sentences of the mentions and the ones right after."""
    numbers = {parsed.sentence_of[mention.head] for mention in found}
    numbers |= {number + 1 for number in numbers if number + 1 < len(parsed.sentences)}
    around = []
    for number in sorted(numbers):
        low, high = parsed.sentences[number]
        for at in range(low, high):
            word = parsed.words[at]
            if word in FAMILIES and word not in _ONLY_ON_OBJECT and not parsed.negated[at]:
                around.append(word)
    return around


def _colours_behind(parsed: Parsed, found: tuple[Mention, ...]) -> list[str]:
    """Colour words close behind a mention: "a blue cup with white stripes"."""
    behind = []
    for mention in found:
        high = parsed.sentences[parsed.sentence_of[mention.head]][1]
        close = range(mention.head + 1, min(high, mention.head + _AFTER + 1))
        behind += [parsed.words[at] for at in close if parsed.words[at] in FAMILIES]
    return behind


def _covered(wanted: tuple[frozenset[str], ...], said: list[str]) -> int:
    return sum(any(not FAMILIES[word].isdisjoint(family) for word in said) for family in wanted)


def judge_colour(parsed: Parsed, element: str, named: str) -> Finding:
    """Score a colour. Said of the object itself it is right or wrong by its family; else
    the annotated colours in the same or the next sentence are right, no colour is silence.
    """
    found = mentions(parsed, phrase(named))
    if not found:
        return Finding(SILENT, f"The caption does not mention {named}.")
    wanted = annotated_colours(element)
    if not wanted:
        stated = element.lower().strip() in parsed.text.lower()
        return Finding(RIGHT if stated else SILENT, f"Looked for the words {element!r}.")
    said = [word for mention in found for word in colours_on(parsed, mention)]
    hues = [word for word in said if word not in _SHADING] or said
    around = _colours_around(parsed, found)
    if hues and _covered(wanted, hues) == len(wanted):
        return Finding(RIGHT, f"The caption calls {named} {' and '.join(dict.fromkeys(hues))}.")
    beside = [*hues, *_colours_behind(parsed, found)] if hues else around
    if _covered(wanted, beside) == len(wanted) and (not hues or _covered(wanted, hues)):
        return Finding(RIGHT, f"The caption gives {element} beside {named}.")
    if hues:
        shown = " and ".join(dict.fromkeys(hues))
        return Finding(WRONG, f"The caption calls {named} {shown}, not {element}.")
    return Finding(SILENT, f"The caption gives no colour of {named}.")
