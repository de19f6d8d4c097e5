"""object_color: does the caption give the annotated colour of the annotated object?

protocols.md 1: 0 if the object or its colour is absent; similar colours count as right.
"""

from __future__ import annotations

from functools import lru_cache

from caliper.lexical.finding import RIGHT, SILENT, WRONG, Finding
from caliper.lexical.mentions import Mention, mentions, phrase
from caliper.lexical.text import Parsed, words_of
from caliper.lexical.vocabulary import word_set
from caliper.lexical.words import STOPWORDS

_SHADES = """
red: red reddish crimson scarlet ruby cherry vermilion maroon burgundy rust rusty coral brick terracotta magenta auburn rose
orange: orange orangish amber peach apricot coral tangerine rust rusty terracotta copper bronze salmon golden ginger
yellow: yellow yellowish gold golden blonde blond lemon mustard amber cream straw khaki ochre sandy
green: green greenish olive emerald lime mint jade teal khaki turquoise lush leafy chartreuse
blue: blue bluish navy azure cyan teal turquoise indigo sapphire aqua cobalt denim cerulean periwinkle
purple: purple purplish violet lavender lilac magenta indigo plum mauve maroon burgundy fuchsia
pink: pink pinkish rose magenta fuchsia salmon coral blush mauve peach
brown: brown brownish tan beige chocolate chestnut caramel bronze copper khaki auburn rust rusty mahogany hazel tawny maroon brunette golden sandy
beige: beige cream tan ivory khaki sandy nude taupe offwhite brown buff light
white: white whitish ivory cream snowy offwhite pearl pale eggshell light whitewashed
gray: gray grey grayish greyish silver silvery slate charcoal ash metallic steel chrome stainless
silver: silver silvery metallic steel chrome gray grey stainless
gold: gold golden brass yellow bronze
black: black blackish ebony jet charcoal dark onyx
dark: dark black navy charcoal
light: light white pale beige cream
colorful: colorful colourful multicolored multicoloured rainbow vibrant colors colours
transparent: transparent clear translucent
striped: striped stripes stripe
plaid: plaid checkered checked tartan gingham
floral: floral flowered
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
# A next sentence that begins with one of these goes on about the thing of the one before.
_BACKWARD = word_set("it its they their he his she her this these both one each all")
# What makes the coloured noun a part of the thing itself.
_PARTS = word_set("with has have its their his her having in featuring")
_TRIM = word_set("""
    color colors colored coloured hue hues tone tones toned shade shades stripes striped accents
    markings pattern patterns details trim finish paint exterior body
""")
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
        if word in _LINKS or (word in {"in", "of"} and _links(parsed, at, head)):
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


def _links(parsed: Parsed, at: int, head: int) -> bool:
    """Whether an "in" or "of" may say a colour: right behind the noun, or "dressed in"."""
    before = parsed.words[at - 1]
    return at == head + 1 or before in _LINKS or before.endswith("ed")


def _joins_colours(parsed: Parsed, at: int) -> bool:
    """Whether an "and" or comma joins two colours, or two adjectives one of which is one."""
    before = parsed.words[at - 1] if at else ""
    behind = parsed.words[at + 1 : at + 3]
    return before in FAMILIES and any(word in FAMILIES for word in behind)


def _colours_around(parsed: Parsed, found: tuple[Mention, ...]) -> list[str]:
    """Colour words in the sentences of the mentions and the ones right after, but for those
    that are said of another thing.
    """
    own = {parsed.sentence_of[mention.head] for mention in found}
    around = []
    for number in sorted(own | {number + 1 for number in own}):
        if number >= len(parsed.sentences):
            continue
        low, high = parsed.sentences[number]
        taken_up = number in own or not _BACKWARD.isdisjoint(parsed.words[low : low + 3])
        for at in range(low, high):
            word = parsed.words[at]
            if word not in FAMILIES or word in _ONLY_ON_OBJECT or parsed.negated[at]:
                continue
            if not _of_another(parsed, at, low, high, taken_up=taken_up):
                around.append(word)
    return around


def _of_another(parsed: Parsed, at: int, low: int, high: int, *, taken_up: bool) -> bool:
    """Whether a colour is said of another thing: "a black van", not "has a black body"."""
    following = parsed.words[at + 1] if at + 1 < high else ""
    if not following or following in STOPWORDS or following in FAMILIES or following in _TRIM:
        return not taken_up
    return _PARTS.isdisjoint(parsed.words[max(low, at - 4) : at])


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
