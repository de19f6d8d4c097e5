"""scene: does the caption say where this is?

protocols.md 1: 1 the scene, -1 another scene, 0 only if the caption names no scene at all.
"""

from __future__ import annotations

import re
from functools import lru_cache

from caliper.lexical.judgements import RIGHT, SILENT, WRONG, Judgement
from caliper.lexical.mentions import content
from caliper.lexical.text import CaptionText
from caliper.lexical.vocabulary import word_list
from caliper.lexical.words import concept, related_meanings

# Words by which captions suggest a scene without naming it.
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
park: tree grass bench path lawn leaf playground
garden: flower plant grass lawn
farm: barn field cow sheep crop tractor
field: grass meadow crop rural pasture
airport: airplane runway terminal tarmac luggage
ski: snow slope mountain lift
resort: pool palm slope hotel
conference: podium microphone speaker meeting
carpark: parked car vehicle bus lot asphalt
party: friend balloon cake toast celebration guest gathering
dinner: table plate dish wine food
playground: swing slide
balcony: railing terrace
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
indoor: room wall floor ceiling window curtain couch bed desk shelf cabinet carpet counter hallway
interior: room wall floor ceiling window curtain couch bed desk shelf cabinet carpet
home: couch kitchen bedroom livingroom bed armchair cabinet
apartment: couch kitchen bedroom livingroom balcony
outdoor: sky tree street grass building mountain car sea sun field cloud park road snow river
underwater: coral seabed reef fish diver bubble starfish seaweed
ocean: coral seabed reef wave beach sail
grassland: grass hill meadow plain field grazing
seaside: sea wave sailboat sand shore
airfield: airplane runway propeller jet
river: water bank boat stream bridge
lake: water shore boat reflection
waterfall: water cascade rock
snowfield: snow ice slope winter
cliff: rock edge sea
valley: mountain hill river
cave: rock dark stalactite
countryside: field farm barn meadow cow rural village hill
village: house hut rural cottage
alley: narrow building street wall
square: crowd building fountain cobblestone
cafe: coffee table cup barista espresso latte
bakery: bread pastry display counter
aquarium: fish tank water
circus: tent clown acrobat
cemetery: grave tombstone
campsite: tent campfire
stable: horse stall hay straw
subway: train platform passenger rail seat
bus: seat passenger driver window
lobby: reception chandelier guest desk
ballroom: chandelier dance gown
theater: stage curtain audience seat
gallery: painting exhibit frame artwork
laboratory: microscope scientist beaker
garage: car tool workshop
warehouse: box shelf forklift pallet
workshop: tool workbench craftsman
salon: hair mirror stylist
nightclub: dj dance neon
racetrack: race car track spectator
rink: ice skate hockey
festival: crowd lantern parade costume
battle: soldier war explosion weapon sword
interview: microphone reporter question
""".strip()

_PLACES = frozenset(
    concept(word)
    for word in word_list("""
        kitchen bedroom bathroom office classroom restaurant street city road beach sea forest
        mountain park garden farm field airport station stadium gym pool hospital store market
        library museum church stage studio room hall desert harbor factory village town lake river
        bridge cafe bar hotel house shop mall street backyard plaza square court rink arena
        theater countryside highway alley warehouse garage laboratory workshop train bus subway
        temple palace castle playground zoo aquarium lobby corridor balcony rooftop livingroom
        diningroom carpark pond valley cliff cave jungle meadow grassland ballroom cathedral
    """)
)
_PRESENTED = re.compile(
    r"\b(?:shows?|showing|depicts?|depicting|captures?|capturing|features?|presents?|portrays?|"
    r"displays?|illustrates?|view of|scene of|image of|photo of|set in|set on|set at|located in|"
    r"takes place (?:in|on|at)|scene is|setting is|appears to be|inside|in|on|at) "
    r"(?:a|an|the|what appears to be a)"
    r"(?: (?!(?:near|of|with|by|and|beside|behind|from) )[\w',]+){0,5}$"
)
_ROOMS = frozenset(
    concept(word)
    for word in word_list("""
        kitchen bedroom bathroom office classroom livingroom diningroom lobby gym hospital library
        restaurant store corridor garage laboratory
    """)
)
_OPENING = 2
_FEWEST_SIGNS = 2


@lru_cache(maxsize=1)
def _cues() -> dict[str, tuple[frozenset[str], ...]]:
    """The cues of each scene, each as the meanings that stand for it."""
    table: dict[str, tuple[frozenset[str], ...]] = {}
    for line in _CUES.splitlines():
        scene, words = line.split(":")
        cues = tuple(_kinds(concept(word)) for word in words.split())
        table[concept(scene)] = table.get(concept(scene), ()) + cues
    return table


def _kinds(meaning: str) -> frozenset[str]:
    return frozenset(
        stated for stated, credit in related_meanings(meaning).items() if credit == 1.0
    )


def judge_scene(caption: CaptionText, element: str) -> Judgement:
    """Score a scene by its name, or by two signs: parts of the name, or things that belong there.

    Otherwise another place presented as the scene is wrong; a caption only about things is silent.
    """
    meanings = content(element)
    named_meanings = [meaning for meaning in meanings if _is_mentioned(caption, meaning)]
    if named_meanings and named_meanings[-1] == meanings[-1]:
        return Judgement(RIGHT, f"The caption names {element}.")
    if _another_room(caption, meanings):
        return Judgement(WRONG, f"The caption presents another room than {element}.")
    cues = dict.fromkeys(cue for meaning in meanings for cue in _cues().get(meaning, ()))
    cues_present = sum(any(caption.stated(one) for one in cue) for cue in cues)
    if cues_present + len(named_meanings) >= _FEWEST_SIGNS or len(named_meanings) * 2 > len(
        meanings
    ):
        return Judgement(RIGHT, f"The caption tells of what belongs to {element}.")
    if _presents(caption, _PLACES):
        return Judgement(WRONG, f"The caption presents another scene than {element}.")
    return Judgement(SILENT, "The caption names no scene.")


def _is_mentioned(caption: CaptionText, meaning: str) -> bool:
    """Whether the caption has the meaning, a kind of it, or a word that begins with it.

    A "farmhouse" indicates a farm; a "room" does not indicate a bedroom.
    """
    if any(caption.stated(kind) for kind in _kinds(meaning)):
        return True
    return len(meaning) >= 4 and any(
        len(stated) > len(meaning) + 2 and stated.startswith(meaning) and caption.stated(stated)
        for stated in caption.places
    )


def _another_room(caption: CaptionText, meanings: tuple[str, ...]) -> bool:
    """Whether the caption presents another room than the annotated one."""
    return not _ROOMS.isdisjoint(meanings) and _presents(caption, _ROOMS.difference(meanings))


def _presents(caption: CaptionText, places: frozenset[str]) -> bool:
    """Whether one of the first sentences, or one about the setting, presents one of the places."""
    for number, (low, high) in enumerate(caption.sentences):
        sentence = caption.sentence(number)
        if number >= _OPENING and "scene" not in sentence and "setting" not in sentence:
            continue
        positions = [at for at in range(low, high) if caption.meanings[at] in places]
        if any(_is_presented(caption, at, low) for at in positions):
            return True
    return False


def _is_presented(caption: CaptionText, at: int, low: int) -> bool:
    before = " ".join(caption.words[max(low, at - 8) : at])
    return _PRESENTED.search(before) is not None
