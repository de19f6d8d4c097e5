"""Colour words and the families of shades that they belong to, written by hand."""

from __future__ import annotations

from functools import lru_cache

from caliper.lexical.text import words_of
from caliper.lexical.vocabulary import word_set

_SHADES = """
red: red reddish crimson scarlet ruby cherry vermilion maroon burgundy rust rusty coral terracotta magenta auburn rose
orange: orange orangish amber peach apricot coral tangerine rust rusty terracotta copper bronze salmon golden ginger
yellow: yellow yellowish gold golden blonde blond lemon mustard amber cream khaki ochre sandy
green: green greenish olive emerald lime mint jade teal khaki turquoise lush leafy chartreuse
blue: blue bluish navy azure cyan teal turquoise indigo sapphire aqua cobalt cerulean periwinkle
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
""".strip()  # noqa: E501 - a table with one family of shades per line


def _families() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for line in _SHADES.splitlines():
        family, shades = line.split(":")
        for shade in shades.split():
            table.setdefault(shade, set()).add(family)
    return {shade: frozenset(names) for shade, names in table.items()}


FAMILIES = _families()
"""The families of shades of each colour word."""

# Words that are colours only next to a noun, never on their own.
ONLY_BESIDE_NOUN = word_set("""
    light dark wood wooden wine cherry rose glass flower clear peach coffee leather ginger
    concrete steel pale straw lush leafy jet vibrant brick lemon lime stainless denim
""")
SHADING = word_set("light dark bright pale deep soft rich vivid muted pastel solid")
"""How dark or strong a colour is; next to another colour, these are not colours."""

PATTERNS = frozenset(
    shade
    for shade, names in FAMILIES.items()
    if names & {"colorful", "striped", "plaid", "floral", "camouflage", "transparent"}
)
"""Words that say that a thing is coloured or patterned, but not in which colour."""

SURFACES = word_set("""
    color colors colored coloured colour hue hues tone tones toned shade shades mix combination
    touches blend finish paint surface exterior body fur coat mane plumage feathers hull fabric
    upholstery material leather background one ones
""")
"""Parts whose colour is that of the whole thing: "a white hull", "a black finish"."""


@lru_cache(maxsize=2048)
def annotated_colours(element: str) -> tuple[frozenset[str], ...]:
    """The families of each annotated colour: "dark blue and white" gives blue, and white."""
    words = words_of(element.replace("-", " "))
    colours = [word for word in words if word in FAMILIES]
    plain = [word for word in colours if word not in SHADING]
    families = [FAMILIES[word] for word in plain or colours]
    if "off" in words and "white" in words:
        families.append(FAMILIES["cream"])
    return tuple(dict.fromkeys(families))
