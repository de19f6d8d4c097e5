"""camera_movement: which of the seven movements does the caption itself state?

Fig. A3: only descriptions of the camera's movement count, nothing is inferred from the rest, and
movements outside the categories are "N/A". The released prompt expects a list.
"""

from __future__ import annotations

import re

from caliper.lexical.judgements import Labels
from caliper.lexical.text import CaptionText, matching_labels

# Signs that a sentence is about the camera; a pan may be for frying, a track for trains.
_MOVEMENT_TOPIC = re.compile(
    r"\b(?:camera|cameras|camera's|shots?|lens|zoom\w*|panning|dolly\w*|dollies|tilting|footage|"
    r"frame|framing|perspective|viewpoint|drone|filmed|handheld|cinematograph\w*|view|tripod|"
    r"(?:slow|slight|smooth|steady|quick|gentle|horizontal|vertical) (?:pan|tilt|track|boom)|"
    r"(?:video|clip|scene|it) (?:\w+ ){0,3}?(?:pans|tilts|booms|tracks|is static))\b"
)
_CAMERA = r"(?:camera(?:'s)?(?: \w++)?|shot|lens|drone|footage|view|perspective|frame|viewpoint)"
_ADVERBS = r"(?:(?!(?:as|wh(?:ile|en|ere|ich|o)|that)\b)[\w']++ ){0,%d}?"
_GENERIC = (
    r"(?:mov(?:es?|ed|ing)|shift(?:s|ed|ing)?|turn(?:s|ed|ing)?|rotat(?:es?|ed|ing)|"
    r"sweep(?:s|ing)?|swing(?:s|ing)?|glid(?:es?|ing)|slid(?:es?|ing)|travel(?:s|ing)?|"
    r"drift(?:s|ing)?|go(?:es|ing)?|follow(?:s|ed|ing)?|scroll(?:s|ing)?|motion|movements?|"
    r"proceed(?:s|ing)?|progress(?:es|ing)?|advanc(?:es?|ing)|"
    r"fl(?:y|ies|ying)|transition(?:s|ing)?|adjust(?:s|ing)?|continu(?:es|ing))"
)
_OWN = (
    r"(?:pan|pans|panned|panning|track|tracks|tracking|tracked|trucking|"
    r"tilt|tilts|tilted|tilting|boom|booms|booming|crane|cranes|craning|dolly|dollies|"
    r"dollying|pedestal|pedestals|swivel\w*|arc|arcs)"
)
# Words allowed between a movement and its direction, and a direction joined to another.
_BETWEEN = (
    r"(?:gradually|slowly|slightly|smoothly|gently|a|an|bit|quickly|steadily|then|and|to|toward|"
    r"towards|from|the|its|further|back|subtly|horizontally|vertically|slight|slow|gentle|over|"
    r"across|in|direction|of|it|scene|vehicle|subject|subjects|car|person|man|woman|movement|"
    r"motion|shot|around|along|room|camera|angle|diagonally|sideways|laterally|, from|is|appears|"
    r"seems|be|mostly|primarily|smooth|steady|him|her|them|ground|street|landscape)"
)
_JOINED = (
    r"(?:(?:up|down|left|right|forward|upward|downward|in|out)(?:wards?|s)? "
    r"(?:and|then|or)(?: then)?)"
)
_TO = rf"(?:(?:{_BETWEEN}|{_JOINED}) ){{0,6}}?"
_SELF_MOVED = (
    rf"(?:\b{_OWN}\b |\bcamera(?:'s)? {_ADVERBS % 4}\b{_GENERIC}\b |"
    rf"\b{_CAMERA} {_ADVERBS % 2}\b{_GENERIC}\b |"
    rf"\bcamera is {_ADVERBS % 7}and (?:\w+ly )?\b{_GENERIC}\b |"
    rf"\b{_CAMERA} (?:(?!as\b|while\b|when\b|where\b|which\b|who\b|that\b|,)[\w']++ ){{0,12}}?"
    rf", (?:\w+ly )?(?:moving|travel+ing|gliding|panning|flying|drifting|sweeping) )"
)
_CARRIED = r"(?:(?!(?:as|wh(?:ile|en|ere|ich|o)|that)\b)[\w',]++ ){0,8}?"
# "Tracks alongside the skater to the left", but not "pans to show a man to the left".
_AIMED = (
    r"(?:(?!as\b|while\b|when\b|where\b|which\b|who\b|that\b|show|reveal|captur|focus|and\b)"
    r"[\w']++ ){0,6}?(?:to|towards?) (?:the |its )?"
)
_RIGHTWARD = r"(?:right(?:wards?)?|rightwards?)\b"
_LEFTWARD = r"(?:left(?:wards?)?|leftwards?)\b"
_SIDE = r"(?: side| edge| hand side)?(?: of the \w+)?"
_SWEPT = re.compile(rf"\b(left){_SIDE} to (?:the )?(right)\b|\b(right){_SIDE} to (?:the )?(left)\b")
# "Down the street" is forward, not down.
_WAYS = (
    r"(?:\w+ )?(?:street|road|aisle|hall|hallway|corridor|path|track|river|alley|highway|lane)\b"
)
_MOVEMENTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "left",
        re.compile(
            rf"{_SELF_MOVED}(?:{_CARRIED}toleft\b|{_AIMED}{_LEFTWARD}|{_TO}{_LEFTWARD})|"
            r"\bleft(?:ward)? (?:pan|track|panning|tracking|swing|movement|motion)\b"
        ),
    ),
    (
        "right",
        re.compile(
            rf"{_SELF_MOVED}(?:{_CARRIED}toright\b|{_AIMED}{_RIGHTWARD}|{_TO}{_RIGHTWARD})|"
            r"\bright(?:ward)? (?:pan|track|panning|tracking|swing|movement|motion)\b"
        ),
    ),
    (
        "up",
        re.compile(
            rf"{_SELF_MOVED}{_TO}(?:up|upwards?)\b|\bupwards? (?:tilt|pan|boom|movement|motion)\b|"
            rf"\b{_CAMERA} {_ADVERBS % 3}(?:rises?|rising|ascends?|ascending|lifts?|elevates?)\b|"
            r"\bbottom to (?:the )?top\b"
        ),
    ),
    (
        "down",
        re.compile(
            rf"{_SELF_MOVED}{_TO}(?:down(?! (?:the|a|an) {_WAYS})|downwards?)\b|"
            r"\bdownwards? (?:tilt|pan|boom|movement|motion)\b|"
            rf"\b{_CAMERA} {_ADVERBS % 3}(?:descends?|descending|lowers?|lowering)\b|"
            r"\btop to (?:the )?bottom\b"
        ),
    ),
    (
        "in",
        re.compile(
            r"\bzoom(?:s|ed|ing)? (?:\w+ ){0,2}?(?:in|closer|into)\b|\bzoom in\b|"
            r"\b(?:dolly|dollies|dollying|push|pushes|pushing|push-in) (?:\w+ )?"
            r"(?:in|into|forward|toward|towards|closer)\b|"
            rf"{_SELF_MOVED}{_TO}(?:forwards?|closer|inwards?|nearer|in(?: on)?|into)\b"
            rf"(?! (?:direction|front|order|sync|time|tandem|place|the|a|an)\b)|"
            rf"\b{_CAMERA} {_ADVERBS % 3}(?:mov\w+|travel\w*|glid\w+) "
            r"(?:\w+ )?(?:toward|towards|through|into)\b(?! the (?:left|right|top|bottom|sky))|"
            rf"\b{_CAMERA} {_ADVERBS % 4}(?:mov|travel|glid|go|fl)\w* down (?:the|a|an) {_WAYS}|"
            rf"\b{_CAMERA} {_ADVERBS % 3}(?:approach\w*|advanc\w+)\b|"
            r"\bforward (?:movement|motion|tracking)\b"
        ),
    ),
    (
        "out",
        re.compile(
            r"\bzoom(?:s|ed|ing)? (?:\w+ ){0,2}?(?:out|outward|back)\b|"
            r"\b(?:dolly|dollies|dollying|pull|pulls|pulled|pulling) (?:\w+ )?"
            r"(?:out|back|backwards?|away)\b|"
            rf"{_SELF_MOVED}{_TO}(?:backwards?|away|outwards?|out)\b(?! of (?:focus|view))|"
            rf"\b{_CAMERA} {_ADVERBS % 3}"
            r"(?:retreats?|retreating|recedes?|withdraws?|widens?|expands?)\b|"
            r"\bbackward (?:movement|motion)\b"
        ),
    ),
)
_STILL = (
    r"(?:static|stationary|fixed|still|motionless|unmoving|immobile|locked|steady|stable|"
    r"constant|unchanged)"
)
_UNBROKEN = (
    r"(?:(?!as\b|while\b|when\b|where\b|which\b|who\b|that\b|captur\w+|show\w+|follow\w+|"
    r"reveal\w+|of\b)[\w',]++ ){0,6}?"
)
_FIXED = re.compile(
    rf"\b{_CAMERA} {_UNBROKEN}{_STILL}\b|"
    rf"\b{_STILL} (?:and \w+ )?(?:camera|shots?|frame|framing|"
    r"position|perspective|angle|footage)\b|"
    r"\b(?:no|without|any|little|minimal|not much) (?:(?!sudden|abrupt|shak|jerk)\w+ ){0,3}?"
    r"(?:movements?|motion|panning|pan|zoom|zooming)\b|"
    r"\bcamera (?:\w+ ){0,3}?(?:not|n't|doesn't|never) (?:\w+ )?(?:move|moving|change|shift)\b|"
    r"\b(?:filmed|shot|recorded|captured|taken) (?:\w+ ){0,3}?(?:static|stationary|fixed)\b|"
    rf"\b{_CAMERA} {_UNBROKEN}(?:same|single|one) (?:position|place|spot|location|point|angle)\b|"
    rf"\b{_CAMERA} {_UNBROKEN}(?:consistent|remains the same|stays the same)\b|"
    r"\b(?:static|tripod)\b"
)
_HELD = re.compile(r"\b(?:cameras?|camera's|shots?|frame|footage|tripod)\b")
_WEAKLY_STILL = re.compile(r"\b(?:steady|stable|still|constant|consistent)\b")
_GOING = re.compile(r"\b(?:smooth\w*|follow\w*|track\w*|mov(?:es|ing)|dynamic|handheld|glid\w+)\b")
_UNRELATED_STILL = re.compile(
    r"\b(?:objects?|subjects?|cars?|vehicles?|background|person|man|woman|animals?) "
    r"(?:\w+ ){0,2}?(?:static|stationary|still|fixed)\b"
)


def read_movement(caption: CaptionText) -> Labels:
    """The camera movements that a caption states: pan, track, tilt, boom, zoom, dolly, or fixed.

    Only movements of the camera count, not of what it films: a movement must be next to its
    direction, and a general verb ("moves", "follows") needs the camera as its subject. A pan
    without direction, an orbit and a hand-held shot belong to no category.
    """
    numbers = range(len(caption.sentences))
    everything = {number: caption.spoken(number, negations=True) for number in numbers}
    relevant = [number for number in numbers if _MOVEMENT_TOPIC.search(everything[number])]
    spoken = [_shorten_sweeps(caption.spoken(number)) for number in relevant]
    movements = matching_labels(_MOVEMENTS, spoken)
    still = [
        _UNRELATED_STILL.sub("", everything[number])
        for number in relevant
        if _HELD.search(everything[number])
    ]
    surely = any(_FIXED.search(_WEAKLY_STILL.sub("", sentence)) for sentence in still)
    weakly = any(_FIXED.search(sentence) and not _GOING.search(sentence) for sentence in still)
    if surely or (weakly and not movements):
        return Labels((*movements, "fixed"), "The caption says that the camera hardly moves.")
    if movements:
        return Labels(movements, "The caption names the movement of the camera.")
    return Labels((), "The caption states no camera movement of these categories.")


def _shorten_sweeps(sentence: str) -> str:
    """Rewrite "from left to right" as "toright", so that only the end point counts."""
    return _SWEPT.sub(lambda match: "to" + (match.group(2) or match.group(4)), sentence)
