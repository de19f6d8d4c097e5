"""The word lists of the noun tagger: closed classes, verbs, adjectives, exceptions."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class WordKind(StrEnum):
    """The kind of a word, as far as it matters for the next word."""

    START = "start"
    DETERMINER = "determiner"
    NUMBER = "number"
    ADJECTIVE = "adjective"
    ADVERB = "adverb"
    PREPOSITION = "preposition"
    TO = "to"
    CONJUNCTION = "conjunction"
    PRONOUN = "pronoun"
    AUXILIARY = "auxiliary"
    VERB = "verb"
    NOUN = "noun"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CLOSED: Mapping[WordKind, frozenset[str]] = {
    WordKind.DETERMINER: _words(
        """
        a an the this these those my your his her its our their whose some any each every no
        another other others both all several many few fewer more most much little less enough
        various multiple numerous countless such what which either neither certain half same own
        """
    ),
    WordKind.NUMBER: _words(
        """
        one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
        sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety
        hundred thousand million first second third fourth fifth sixth last
        """
    ),
    WordKind.PREPOSITION: _words(
        """
        of in on at by for with from into onto over under above below behind beside besides between
        among amongst amid through throughout across along alongside around about against near
        nearby next toward towards upon within without inside outside beyond beneath underneath
        before after during until till since off out up down past per via like unlike despite
        except including featuring concerning regarding following than as opposite atop aboard
        amidst versus plus minus
        """
    ),
    WordKind.TO: _words("to"),
    WordKind.CONJUNCTION: _words(
        """
        and or but nor so yet if because although though while whereas when where whether unless
        how why
        """
    ),
    WordKind.PRONOUN: _words(
        """
        i you he she it we they me him us them who whom that there here himself herself itself
        themselves myself yourself ourselves someone somebody something anyone anybody anything
        everyone everybody everything none nobody nothing ones mine yours hers ours theirs it's
        he's she's they're we're i'm you're that's there's who's what's i've let's
        """
    ),
    WordKind.AUXILIARY: _words(
        """
        is are was were be been being am has have had having do does did can could will would shall
        should may might must not cannot isn't aren't wasn't weren't hasn't haven't hadn't doesn't
        don't didn't can't couldn't won't wouldn't shouldn't seems seem seemed appears appear
        appeared becomes become became looks remains remain remained
        """
    ),
    WordKind.ADVERB: _words(
        """
        very quite rather too also just only even still already again ever never always often
        sometimes usually perhaps maybe almost nearly away apart together forward backward back
        upward upwards downward downwards sideways ahead aside abroad outdoors indoors overhead
        however therefore thus moreover furthermore additionally then now soon later today
        yesterday tomorrow overall well instead else otherwise somewhat slightly partly fast hard
        far further once twice straight upright likewise meanwhile elsewhere everywhere somewhere
        """
    ),
    WordKind.VERB: _words(
        """
        stood sat lay laid lain held kept left set put cut hit let made took taken gave given went
        gone came got gotten saw seen knew known felt found told said wore worn hung lit built
        bent drew drawn drove driven ate eaten flew flown grew grown hid hidden led lent met paid
        ran rode ridden rose risen shown shone shot slept spoke spoken spent stuck swam swept
        threw thrown wrote written caught bought brought fought taught thought woven woke blown
        blew broke chose chosen spread cast dug fed fallen fell understood
        """
    ),
}
"""Words whose kind does not depend on their neighbours."""

VERBS = _words(
    """
    accompany accentuate accommodate achieve add adorn allow approach arrange arrive attach attend
    await bask become begin believe belong bend blend blur bring browse build bustle buy capture
    carry cascade catch celebrate chase chat chew choose clean climb cling close come
    complement complete compose connect consist contain continue contrast contribute convey cook
    cover cradle create crouch dangle dart decorate depict describe descend dine dip display dive
    dominate drag draw dress drift drive eat emanate embrace emerge emit emphasize enclose encourage
    engage enhance enjoy enter evoke examine exist explain explore extend exude face feed feel fetch
    fill float flow fly follow gather gaze give glance gleam glide glow go grab graze greet grip
    grow hang happen hear help hide highlight hold hover hug illuminate imply include indicate
    inspect intersect invite join keep kick kneel know lead lean leap learn lend let lie lift
    listen load loom lurk maintain make mean meet merge mimic mingle mount munch navigate nestle
    observe occupy offer open overlook participate pass peek peer perch perform perform pick pose
    pour prepare present prevail protect protrude provide pull pursue push put reach read recede
    recline reflect reinforce relax rely remind resemble rest reveal ride roam run say scatter see
    seem sell serve settle shine showcase sift sip sit situate ski slant sleep slice smile sniff
    soak soar span speak spread sprawl sprinkle squat stand stare stay stem stir stretch stride
    stroll suggest support surround suspend sway swim swoop take talk tell tend think throw tie
    tower trail transport travel tuck understand undergo unfold use utilize view visit wait wander
    want wear weave write yawn
    rise walk play jump look show feature fall crash watch race roll sail scream
    spin shout throw toss
    """
)
"""Base forms of verbs of description. Verbs that are as often nouns are omitted, unless captions
mostly use them as verbs."""

ING_NOUNS = _words(
    """
    building painting ceiling clothing railing wing ring king string thing swing awning parking
    evening morning wedding lighting setting icing earring spring siding flooring drawing meeting
    crossing landing lightning sibling bedding stuffing topping frosting pudding dumpling sling
    seasoning dressing clearing opening offering gathering duckling
    gosling seedling sapling herring piping molding moulding carving fencing outing cooking
    something anything nothing everything shopping skiing surfing snowboarding skateboarding camping
    boxing racing
    offspring writing marking wiring tubing paneling panelling
    decking roofing rigging plumbing lining coating covering upbringing
    """
)
ED_NOUNS = _words(
    """
    bed shed seed weed reed sled speed seabed flowerbed bobsled tweed steed breed feed need hundred
    riverbed bunkbed
    """
)
LY_NOUNS = _words(
    """
    fly family belly butterfly dragonfly jelly bully lily ally assembly reply supply anomaly
    monopoly housefly firefly italy july doily dolly trolley holly folly rally
    """
)
LY_ADJECTIVES = _words(
    """
    friendly lovely lively lonely elderly likely early daily curly woolly hilly silly ugly holy only
    orderly fatherly motherly
    """
)

ADJECTIVES = _words(
    """
    red blue green yellow black white brown gray grey pink purple beige tan maroon turquoise teal
    navy crimson scarlet violet magenta cyan ivory cream khaki golden silvery colored coloured
    multicolored multicolor dark bright pale vivid vibrant muted faint deep dull
    big large small tiny huge little tall short long wide narrow thick thin high low great massive
    enormous giant gigantic vast spacious compact miniature mini medium full empty broad
    slim slender old young new modern ancient antique vintage contemporary rustic recent
    middle-aged adult
    good bad nice fine beautiful pretty elegant gorgeous cute charming stylish simple plain fancy
    ornate intricate unique rare common typical casual formal traditional classic classical
    hot cold warm cool chilly frozen wet dry damp soft hard rough smooth sharp blunt flat round
    circular square rectangular oval triangular straight curved crooked vertical horizontal diagonal
    upright parallel adjacent central main major minor left right upper lower inner outer front rear
    clean dirty clear cloudy sunny rainy snowy windy foggy misty hazy stormy sandy rocky grassy
    leafy muddy dusty shiny glossy fluffy furry hairy curly wavy fuzzy messy tidy cozy cosy busy
    happy sad angry calm quiet noisy loud peaceful serene tranquil gloomy cheerful joyful playful
    serious focused intense gentle strong weak heavy lightweight sturdy fragile fresh ripe raw
    cooked tasty delicious sweet sour salty spicy bitter juicy creamy crispy crunchy healthy sick
    wooden woolen metallic open closed visible invisible apparent evident obvious
    present absent ready available able unable possible impossible likely different similar same
    identical opposite various specific particular general special normal usual unusual strange
    familiar famous popular public private urban rural suburban residential commercial industrial
    natural artificial organic indoor outdoor domestic wild tame stray rich poor lush dense sparse
    bare bald naked shirtless barefoot blond blonde brunette fair male female human asian african
    european american chinese japanese french italian british english mexican indian german
    electric electronic digital mechanical manual automatic mobile static still alert awake asleep
    alive dead safe dangerous free whole entire complete partial double single triple dual
    alone distant close remote low-key aerial overall key top-down sleek seamless
    neat rugged weathered steep shallow tropical arid bustling lone stark subtle
    """
)
"""Descriptive words; some are nouns at the end of a noun phrase, see `EITHER`."""

EITHER = _words(
    """
    orange cream navy square oval adult human male female antique classic giant miniature round
    silver gold chinese japanese french italian english german public double top
    """
)
"""Adjectives that are nouns unless followed by a word that they can describe."""

SUFFIXES = (
    "ful", "less", "ous", "ish", "able", "ible", "ive", "ical", "istic", "esque", "ial", "ular",
)  # fmt: skip
SUFFIX_NOUNS = _words(
    """
    handful spoonful mouthful armful cupful bucketful table vegetable cable stable constable fable
    dish fish goldfish swordfish starfish jellyfish catfish crayfish shellfish radish polish finish
    varnish rubbish relish parish olive hive archive native detective executive locomotive drive
    curve glove alternative motive perspective bible syllable material aerial memorial
    official potential tutorial trial dial commercial radial beehive initiative adjective
    objective captive representative cellular vertical tentacle vehicle collective narrative
    collectible valuable consumable timetable turntable crucible initial vernacular
    double regular cardinal musical
    """
)
"""Nouns with endings of adjectives."""
