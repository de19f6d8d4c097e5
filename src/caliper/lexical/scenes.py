"""scene: does the caption tell where this is?

protocols.md 1: 1 the scene, -1 another scene is named, 0 only if the caption names no
scene at all.
"""

from __future__ import annotations

import re
from functools import lru_cache

from caliper.lexical.finding import RIGHT, SILENT, WRONG, Finding
from caliper.lexical.mentions import content
from caliper.lexical.overlap import blended
from caliper.lexical.text import Parsed
from caliper.lexical.vocabulary import listed
from caliper.lexical.words import concept, related

# What captions mention when they show a scene without naming it.
_CUES = """
kitchen: stove oven sink countertop refrigerator microwave cooking cabinet
bedroom: bed pillow blanket nightstand headboard mattress
livingroom: couch television rug armchair fireplace cushion
diningroom: dining table plate chair dinner
bathroom: toilet sink shower bathtub faucet tile
office: desk computer monitor workspace meeting conference
classroom: student teacher desk blackboard chalkboard whiteboard lesson
school: student teacher classroom campus
restaurant: dining menu waiter diner meal table plate
bar: counter bottle drink bartender
street: road city sidewalk traffic pedestrian urban building vehicle crosswalk
city: urban skyscraper skyline building street traffic
road: street highway asphalt lane traffic vehicle
beach: sand sea wave coast umbrella surf
sea: wave water horizon beach boat
forest: tree wood foliage trail leaf
mountain: peak hill valley rocky slope
snow: ski winter ice slope frost
park: tree grass bench path lawn
garden: flower plant grass lawn
farm: barn field cow sheep crop tractor
field: grass meadow crop rural pasture
airport: airplane runway terminal tarmac luggage
yard: lawn grass fence house patio
station: train platform track railway passenger
stadium: field crowd player match game pitch
court: basketball tennis net player racket
gym: workout exercise weight treadmill fitness dumbbell
pool: swim water swimmer
hospital: doctor nurse patient medical bed
store: shelf product display customer shopping market
market: stall vendor produce goods customer
supermarket: shelf product aisle grocery
library: book shelf bookshelf reading
museum: exhibit display artifact gallery sculpture
church: altar pew cathedral stained religious
stage: performer microphone spotlight concert audience
concert: stage band microphone crowd performer musician
studio: backdrop background microphone portrait
wedding: bride groom bouquet ceremony
zoo: enclosure animal cage
space: planet star galaxy astronaut rocket
sky: cloud airplane flying aerial bird
night: dark moon illuminated star lamp
construction: crane scaffold excavator worker
factory: machine worker industrial equipment
harbor: boat dock pier water ship
desert: sand dune arid cactus
battlefield: soldier war explosion weapon battle
game: player character screen level
""".strip()

_PLACES = frozenset(
    concept(word)
    for word in listed("""
        kitchen bedroom bathroom office classroom restaurant street city road beach sea forest
        mountain park garden farm field airport station stadium gym pool hospital store market
        library museum church stage studio room hall desert harbor factory village town lake river
        bridge cafe bar hotel house shop mall street backyard plaza square court rink arena
        theater countryside highway alley warehouse garage laboratory workshop train bus subway
        temple palace castle playground zoo aquarium lobby corridor balcony rooftop
    """)
)
_PRESENTED = re.compile(
    r"\b(?:shows?|showing|depicts?|depicting|captures?|capturing|features?|presents?|portrays?|"
    r"displays?|illustrates?|view of|scene of|image of|photo of|set in|set on|set at|located in|"
    r"takes place (?:in|on|at)|scene is|setting is|appears to be|inside|in|on|at) "
    r"(?:a|an|the|what appears to be a)(?: [\w']+){0,3}$"
)
_OPENING = 2
_ENOUGH = 0.34
_FEWEST_CUES = 3


@lru_cache(maxsize=1)
def _cues() -> dict[str, frozenset[str]]:
    table = {}
    for line in _CUES.splitlines():
        scene, words = line.split(":")
        table[concept(scene)] = frozenset(
            kind for word in words.split() for kind in related(concept(word))
        )
    return table


def judge_scene(parsed: Parsed, element: str) -> Finding:
    """Score a scene: by its words, or by three things that belong to it.

    Without them, another place that the caption presents as its scene is wrong; a caption
    about things alone is silent.
    """
    held = blended(parsed, element)
    if held >= _ENOUGH:
        return Finding(RIGHT, f"The caption tells of {element} (overlap {held:.2f}).")
    if any(_within_word(parsed, meaning) for meaning in content(element)):
        return Finding(RIGHT, f"The caption names a part of {element}.")
    table = _cues()
    for meaning in content(element):
        cues = table.get(meaning, frozenset())
        if sum(1 for cue in sorted(cues) if parsed.stated(cue)) >= _FEWEST_CUES:
            return Finding(RIGHT, f"The caption tells of what belongs to {element}.")
    if _presents_place(parsed):
        return Finding(WRONG, f"The caption presents another scene than {element}.")
    return Finding(SILENT, "The caption names no scene.")


def _within_word(parsed: Parsed, meaning: str) -> bool:
    """Whether a longer word of the caption begins with it: "farm" in "farmhouse"."""
    if len(meaning) < 4:
        return False
    return any(
        len(stated) > len(meaning) + 2 and stated.startswith(meaning) and parsed.stated(stated)
        for stated in parsed.places
    )


def _presents_place(parsed: Parsed) -> bool:
    """Whether the first sentences, or one about the setting, present a place."""
    for number, (low, high) in enumerate(parsed.sentences):
        said = parsed.sentence(number)
        if number >= _OPENING and "scene" not in said and "setting" not in said:
            continue
        places = [at for at in range(low, high) if parsed.meanings[at] in _PLACES]
        if any(_introduced(parsed, at, low) for at in places):
            return True
    return False


def _introduced(parsed: Parsed, at: int, low: int) -> bool:
    before = " ".join(parsed.words[max(low, at - 6) : at])
    return _PRESENTED.search(before) is not None
