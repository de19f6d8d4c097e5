"""camera_angle and camera_movement: which categories does the caption itself state?

Fig. A3: the judge does not see the annotation, searches only what the caption says about
the camera, infers nothing from the scene, and answers "N/A" when there is nothing.
The released prompt takes a list: all stated categories are given.
"""

from __future__ import annotations

import re

from caliper.lexical.finding import Labels
from caliper.lexical.text import Parsed

_ANGLE_TOPIC = re.compile(
    r"\b(?:angles?|angled|camera|shots?|view|viewed|perspective|viewpoint|vantage|eye|eyes?|aerial|"
    r"overhead|captured|photographed|taken|filmed|frame|framed|framing|composition|tilt|tilted|"
    r"drone|dutch|canted|photo|photograph|viewer|looking|lens|positioned|head on|above|below)\b"
)
_SHADE = r"(?:\w+ ){0,3}?"
_VIEW = r"(?:angles?|angled|view|viewpoint|perspective|shot|vantage|position|camera)\b"
_ANGLE_NAMES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "level angle",
        re.compile(
            r"\blevel(?: camera| shooting| viewing)? (?:angle|perspective|view|shot)|"
            r"(?<!ground )(?<!water )(?<!street )(?<!floor )\blevel with\b|"
            r"(?<!above )(?<!above the )(?<!below )(?<!below the )(?<!than )"
            r"\beye(?:s)? level\b|\bstraight on\b|\bhead on\b|"
            r"\b(?:angle|camera|shot|view|perspective) (?:is|appears|seems)(?: to be)? "
            r"(?:\w+ )?level\b"
        ),
    ),
    (
        "high angle",
        re.compile(
            r"\b(?:high|higher) " + _SHADE + _VIEW + r"|\bbird'?s? eye\b|\bbird's\b|"
            r"\bbirds eye\b|\boverhead\b|\btop down\b|\btop view\b|\baerial\b|\bhigh above\b"
        ),
    ),
    (
        "low angle",
        re.compile(
            r"\b(?:low|lower) (?!light|contrast|resolution|quality|key)" + _SHADE + _VIEW
            + r"|\bworm'?s? eye\b|\bworm's\b|\bworms eye\b"
        ),
    ),
    (
        "dutch angle",
        re.compile(
            r"\bdutch\b|\bcanted\b|\b(?:tilted|slanted|skewed|oblique) (?:camera )?"
            r"(?:angle|perspective|view|shot|frame|horizon|composition)\b|\btilted horizon\b"
        ),
    ),
)  # fmt: skip
_ANGLE_CUES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "high angle",
        re.compile(
            r"\belevated\b|\b(?:from|slightly|just|viewed|shot|taken|positioned) above\b|"
            r"\babove (?:the )?(?:\w+ )?eye level\b|\blook(?:s|ing)? (?:\w+ )?down\b|"
            r"\bdownwards?\b|\bfrom (?:the|a) top\b|\bdrone\b|\bangled (?:\w+ )?down\b|"
            r"\btilted (?:\w+ )?down\b|\babove looking\b|\bmid high\b"
        ),
    ),
    (
        "low angle",
        re.compile(
            r"\bfrom (?:directly |slightly |just )?(?:below|beneath|underneath)\b|"
            r"\bslightly below\b|\blook(?:s|ing)? (?:\w+ )?up(?:wards?)?\b(?! at the camera)|"
            r"\bupwards?\b|\bground level\b|\bfloor level\b|\bclose to the ground\b|"
            r"\bbelow (?:the )?(?:\w+ )?eye level\b|\bangled (?:\w+ )?up\b|"
            r"\btilted (?:\w+ )?up\b|\bnear the ground\b"
        ),
    ),
    (
        "dutch angle",
        re.compile(r"\btilt(?:ed)?\b(?! (?:\w+ )?(?:up|down))|\bslanted\b|\bdiagonal angle\b"),
    ),
    (
        "level angle",
        re.compile(
            r"\bfront(?:al)? (?:view|angle|perspective|shot|on)\b|\bstraightforward\b|"
            r"\bneutral (?:\w+ )?(?:angle|perspective|view)\b|\bdirect(?:ly)? (?:at|facing)\b|"
            r"\bside (?:view|angle|profile|on)\b|\bhorizontal (?:angle|view|perspective)\b|"
            r"\bfront facing\b|\bface on\b|\bfrom the (?:front|side)\b|\bstandard angle\b|"
            r"\bnormal (?:angle|perspective)\b"
        ),
    ),
)


def _spoken(parsed: Parsed, number: int, *, negations: bool = False) -> str:
    """A sentence's words, punctuation and quotations left out; negated ones too if asked."""
    low, high = parsed.sentences[number]
    return " ".join(
        parsed.words[at]
        for at in range(low, high)
        if not parsed.quoted[at] and (negations or not parsed.negated[at])
    )


def _matches(
    table: tuple[tuple[str, re.Pattern[str]], ...], sentences: list[str]
) -> tuple[str, ...]:
    return tuple(
        label for label, pattern in table if any(pattern.search(said) for said in sentences)
    )


def read_angle(parsed: Parsed) -> Labels:
    """The camera angles a caption states; named angles first, else weaker cues, else none.

    "Eye level" and "straight on" are level, "bird's eye", "overhead" and "top-down" high,
    "tilted" and "canted" Dutch; "from above" or "looking up" count where none is named.
    """
    spoken = (_spoken(parsed, number) for number in range(len(parsed.sentences)))
    sentences = [said for said in spoken if _ANGLE_TOPIC.search(said)]
    named = _matches(_ANGLE_NAMES, sentences)
    if named:
        return Labels(named, "The caption names the camera angle.")
    about = [said for said in sentences if _ABOUT_CAMERA.search(said)]
    cues = _matches(_ANGLE_CUES, about)
    if cues:
        return Labels(cues, "The caption describes where the camera looks from.")
    return Labels((), "The caption says nothing of the camera angle.")


_ABOUT_CAMERA = re.compile(
    r"\b(?:angles?|angled|camera|shots?|view|viewed|perspective|viewpoint|vantage|photographed|"
    r"photograph|captured|taken|filmed|framed|photo|lens|aerial|drone)\b"
)

_MOVEMENT_TOPIC = re.compile(
    r"\b(?:camera|cameras|shots?|lens|zoom\w*|pan|pans|panned|panning|tilt\w*|dolly\w*|dollies|"
    r"boom\w*|tracking|tracks|footage|frame|framing|perspective|viewpoint|drone|filmed|static|"
    r"stationary|handheld|cinematograph\w*|view)\b"
)
_CAMERA = r"(?:camera(?:'s)?(?: \w+)?|shot|lens|drone|footage|view|perspective|frame|viewpoint)"
_ADVERBS = r"(?:(?!as\b|while\b|when\b|where\b|which\b|who\b|that\b)[\w']+ ){0,%d}?"
_GENERIC = (
    r"(?:mov(?:es?|ed|ing)|shift(?:s|ed|ing)?|turn(?:s|ed|ing)?|rotat(?:es?|ed|ing)|"
    r"sweep(?:s|ing)?|swing(?:s|ing)?|glid(?:es?|ing)|slid(?:es?|ing)|travel(?:s|ing)?|"
    r"drift(?:s|ing)?|go(?:es|ing)?|follow(?:s|ed|ing)?|scroll(?:s|ing)?|motion|movements?|"
    r"proceed(?:s|ing)?|progress(?:es|ing)?|advanc(?:es?|ing)|"
    r"fl(?:y|ies|ying)|transition(?:s|ing)?|adjust(?:s|ing)?|continu(?:es|ing))"
)
_OWN = (
    r"(?:pan|pans|panned|panning|track|tracks|tracking|tracked|truck|trucks|trucking|"
    r"tilt|tilts|tilted|tilting|boom|booms|booming|crane|cranes|craning|dolly|dollies|"
    r"dollying|pedestal|pedestals|swivel\w*|arc|arcs)"
)
_TO = r"(?:(?:gradually|slowly|slightly|smoothly|gently|a|bit|quickly|steadily|then|and|to|toward|towards|from|the|its|further|back|subtly|horizontally|vertically|slight|over|across|in|direction|of|it|scene|vehicle|subject|subjects|car|person|man|woman|movement|around|along|room|camera|angle|diagonally) ){0,6}?"  # noqa: E501 - the words that may stand between a movement and its direction
_SELF_MOVED = rf"(?:\b{_OWN}\b |\bcamera(?:'s)? {_ADVERBS % 4}\b{_GENERIC}\b |\b{_CAMERA} {_ADVERBS % 2}\b{_GENERIC}\b )"  # noqa: E501 - one alternation
_RIGHTWARD = r"(?:right(?!\s+to\b)(?:wards?)?|rightwards?)\b"
_LEFTWARD = r"(?:left(?!\s+to\b)(?:wards?)?|leftwards?)\b"
_SWEPT = re.compile(r"\b(left to (?:the )?right|right to (?:the )?left)\b")
_MOVEMENTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "left",
        re.compile(
            rf"{_SELF_MOVED}{_TO}{_LEFTWARD}|\bleft(?:ward)? (?:pan|track|panning|tracking|swing|"
            r"movement|motion)\b"
        ),
    ),
    (
        "right",
        re.compile(
            rf"{_SELF_MOVED}{_TO}{_RIGHTWARD}|\bright(?:ward)? (?:pan|track|panning|tracking|"
            r"swing|movement|motion)\b"
        ),
    ),
    (
        "up",
        re.compile(
            rf"{_SELF_MOVED}{_TO}(?:up|upwards?)\b|\bupward (?:tilt|pan|boom|movement|motion)\b|"
            rf"\b{_CAMERA} {_ADVERBS % 3}(?:rises?|rising|ascends?|ascending|lifts?|elevates?)\b|"
            r"\bbottom to (?:the )?top\b"
        ),
    ),
    (
        "down",
        re.compile(
            rf"{_SELF_MOVED}{_TO}(?:down|downwards?)\b|"
            r"\bdownward (?:tilt|pan|boom|movement|motion)\b|"
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
            rf"\b{_CAMERA} {_ADVERBS % 3}(?:retreats?|retreating|recedes?|withdraws?|widens?)\b|"
            r"\bbackward (?:movement|motion)\b"
        ),
    ),
)
_STILL = (
    r"(?:static|stationary|fixed|still|motionless|unmoving|immobile|locked|steady|stable|"
    r"constant|unchanged)"
)
_FIXED = re.compile(
    rf"\b{_CAMERA} (?:[\w']+ ){{0,6}}?{_STILL}\b|"
    rf"\b{_STILL} (?:and \w+ )?(?:camera|shot|frame|framing|view|position|perspective|angle|"
    r"footage)\b|"
    r"\b(?:no|without|any|little|minimal|not much) (?:\w+ ){0,3}?(?:camera )?"
    r"(?:movements?|motion|panning|pan|zoom|zooming)\b|"
    r"\bcamera (?:\w+ ){0,3}?(?:not|n't|doesn't|never) (?:\w+ )?(?:move|moving|change|shift)\b|"
    r"\b(?:filmed|shot|recorded|captured) (?:\w+ ){0,3}?(?:static|stationary|fixed)\b|"
    r"\b(?:static|stationary|fixed|tripod)\b"
)
_WEAKLY_STILL = re.compile(r"\b(?:steady|stable|still)\b")
_UNRELATED_STILL = re.compile(
    r"\b(?:objects?|subjects?|cars?|vehicles?|background|person|man|woman|animals?) "
    r"(?:\w+ ){0,2}?(?:static|stationary|still|fixed)\b"
)


def read_movement(parsed: Parsed) -> Labels:
    """The camera movements a caption states: pan, track, tilt, boom, zoom, dolly, or fixed.

    Only what the camera itself does counts, not what it films: a movement and its direction
    stand together, and a general verb ("moves", "follows") needs the camera as its subject.
    A pan without direction, an orbit, a hand-held shot are none of the categories.
    """
    numbers = range(len(parsed.sentences))
    everything = {number: _spoken(parsed, number, negations=True) for number in numbers}
    about = [number for number in numbers if _MOVEMENT_TOPIC.search(everything[number])]
    spoken = [_swept(_spoken(parsed, number)) for number in about]
    moved = _matches(_MOVEMENTS, spoken)
    still = [
        _UNRELATED_STILL.sub("", everything[number])
        for number in about
        if "camera" in everything[number] or "shot" in everything[number]
    ]
    fixed = any(_FIXED.search(said) for said in still)
    weakly = fixed and not any(_FIXED.search(_WEAKLY_STILL.sub("", said)) for said in still)
    if fixed and not (weakly and moved):
        return Labels((*moved, "fixed"), "The caption says that the camera hardly moves.")
    if moved:
        return Labels(moved, "The caption names the movement of the camera.")
    return Labels((), "The caption states no camera movement of these categories.")


def _swept(said: str) -> str:
    """Rewrite "from left to right" as "to right", so that only where it ends counts."""
    return _SWEPT.sub(lambda found: found.group(1).rsplit(" ", 1)[1], said)
