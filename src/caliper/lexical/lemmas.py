"""Singulars of English nouns, by tables and endings."""

from __future__ import annotations

IRREGULAR = {
    "men": "man",
    "women": "woman",
    "children": "child",
    "feet": "foot",
    "teeth": "tooth",
    "geese": "goose",
    "mice": "mouse",
    "oxen": "ox",
    "dice": "die",
    "leaves": "leaf",
    "knives": "knife",
    "wives": "wife",
    "lives": "life",
    "wolves": "wolf",
    "shelves": "shelf",
    "scarves": "scarf",
    "halves": "half",
    "loaves": "loaf",
    "calves": "calf",
    "thieves": "thief",
    "elves": "elf",
    "hooves": "hoof",
    "selves": "self",
    "buses": "bus",
    "lenses": "lens",
    "gases": "gas",
    "canvases": "canvas",
    "atlases": "atlas",
    "irises": "iris",
    "axes": "axe",
    "shoes": "shoe",
    "toes": "toe",
    "canoes": "canoe",
    "hoes": "hoe",
    "oboes": "oboe",
    "ties": "tie",
    "pies": "pie",
    "lies": "lie",
    "cookies": "cookie",
    "movies": "movie",
    "hoodies": "hoodie",
    "zombies": "zombie",
    "selfies": "selfie",
    "calories": "calorie",
    "prairies": "prairie",
    "smoothies": "smoothie",
    "brownies": "brownie",
    "veggies": "veggie",
    "caches": "cache",
    "aches": "ache",
    "headaches": "headache",
    "avalanches": "avalanche",
    "quiches": "quiche",
    "quizzes": "quiz",
    "cacti": "cactus",
    "fungi": "fungus",
    "alumni": "alumnus",
    "stimuli": "stimulus",
    "criteria": "criterion",
    "phenomena": "phenomenon",
    "bacteria": "bacterium",
    "analyses": "analysis",
    "crises": "crisis",
    "oases": "oasis",
    "bases": "base",
}
"""Plurals that no ending rule covers."""

_UNCHANGED = """
    gas lens canvas atlas christmas pancreas alias bias chaos cosmos thermos news series species
    means headquarters barracks gallows pants jeans shorts trousers leggings tights pajamas
    scissors pliers tweezers binoculars clothes sunglasses eyeglasses goggles overalls dungarees
    mathematics physics athletics gymnastics politics economics ceramics graphics billiards
    darts checkers dominoes suds thanks outskirts surroundings yes us this his its
"""
UNCHANGED = frozenset(_UNCHANGED.split())
"""Words in -s that are not plurals, or have no singular."""

ENDINGS = (
    # (ending, replacement, minimal length of the word); the first match is taken.
    ("sses", "ss", 5),
    ("shes", "sh", 5),
    ("ches", "ch", 5),
    ("xes", "x", 4),
    ("zzes", "zz", 5),
    ("ouses", "ouse", 6),
    ("auses", "ause", 6),
    ("uses", "us", 6),
    ("ies", "y", 5),
    ("oes", "o", 5),
    ("ss", "ss", 3),
    ("us", "us", 3),
    ("is", "is", 3),
    ("'s", "", 3),
    ("s", "", 3),
)
"""Endings of plurals and of their singulars, longest first."""


TAILS = (
    "children",
    "women",
    "shelves",
    "leaves",
    "knives",
    "wolves",
    "wives",
    "calves",
    "teeth",
    "shoes",
    "buses",
)
"""Irregular plurals that also end compounds: bookshelves, grandchildren, horseshoes."""


def singular(noun: str) -> str:
    """The singular of a lower-case noun; singulars and unknown words are returned unchanged.

    Of a hyphenated compound, only the last part is changed.
    """
    head, hyphen, last = noun.rpartition("-")
    return head + hyphen + _singular(last)


def _singular(noun: str) -> str:
    if noun in UNCHANGED:
        return noun
    if noun in IRREGULAR:
        return IRREGULAR[noun]
    for tail in TAILS:
        if noun.endswith(tail):
            return noun.removesuffix(tail) + IRREGULAR[tail]
    # Firemen, snowmen, but not specimen or abdomen.
    if noun.endswith("men") and len(noun) > 5 and noun[-4] not in "aiou":
        return noun.removesuffix("en") + "an"
    for ending, replacement, least in ENDINGS:
        if noun.endswith(ending) and len(noun) >= least:
            return noun.removesuffix(ending) + replacement
    return noun
