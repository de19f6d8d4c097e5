"""camera_angle: which of the four angles does the caption itself state?

Fig. A3: the judge does not see the annotation, considers only what the caption says about the
camera, infers nothing from the scene, and answers "N/A" if nothing is said. The released prompt
expects a list: all stated categories are given.
"""

from __future__ import annotations

import re

from caliper.lexical.judgements import Labels
from caliper.lexical.text import CaptionText, matching_labels

_ANGLE_TOPIC = re.compile(
    r"\b(?:angles?|angled|camera|shots?|view|viewed|perspective|viewpoint|vantage|eye|eyes?|aerial|"
    r"overhead|captured|photographed|taken|filmed|frame|framed|framing|composition|tilt|tilted|"
    r"drone|dutch|canted|photo|photograph|viewer|looking|lens|positioned|head on|above|below|"
    r"seen from)\b"
)
# Words allowed between "high" or "low" and the view; "a low wall with a view" is not an angle.
_SHADE = (
    r"(?:(?:camera|shooting|viewing|vantage|eye|level|to|mid|medium|wide|and|or|three|quarter|"
    r"frontal|front|side|aerial|oblique) ){0,3}?"
)
_VIEW = r"(?:angles?|angled|view|viewpoint|perspective|shot|vantage|position|camera)\b"
_IS = r"\b(?:angle|perspective|viewpoint) (?:is|appears|seems)(?: to be)? (?:\w+ )?"
_OFF_EYES = re.compile(r"\b(above|below|than|over|under|from) (?:[\w']+ ){0,3}?eyes? level\b")
_ANGLE_NAMES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "level angle",
        re.compile(
            r"\blevel(?: camera| shooting| viewing)? (?:angle|perspective|view|shot)|"
            r"(?<!ground )(?<!water )(?<!street )(?<!floor )\blevel with\b|"
            r"\beye(?:s)? level\b|\bstraight on\b(?! (?:a|the)\b)|"
            r"\bhead on (?:angle|view|perspective|shot)\b|"
            r"\b(?:taken|shot|captured|viewed|seen|angle|camera|photographed) (?:\w+ ){0,3}?"
            r"head on\b(?! (?:a|the|his|her|its|their|top)\b)|"
            r"\b(?:angle|camera|shot|view|perspective|viewpoint) "
            r"(?:(?!ground|street|floor|water|high|low|sea)[\w']+ ){1,4}?level\b(?! of)"
        ),
    ),
    (
        "high angle",
        re.compile(
            rf"\b(?:high|higher) (?!contrast|quality|resolution|definition|speed){_SHADE}{_VIEW}|"
            rf"{_IS}high(?:er)?\b|\bbird'?s? eye\b|"
            r"\bbirds eye\b|\btop down\b|\btop view\b|"
            r"\b(?:overhead|aerial) (?:camera |top down |flat lay )?"
            r"(?:angle|view|shot|perspective|photo\w*|image|footage|vantage|position|scene)\b|"
            r"\b(?:from|shot|taken|viewed|captured|positioned|directly) overhead\b"
        ),
    ),
    (
        "low angle",
        re.compile(
            r"\b(?:low|lower) (?!light|contrast|resolution|quality|key)" + _SHADE + _VIEW
            + r"|" + _IS + r"low(?:er)?\b"
            + r"|\bworm'?s? eye\b"
        ),
    ),
    (
        "dutch angle",
        re.compile(
            r"\bdutch (?:angle|tilt|shot|perspective|camera|view)\b|"
            r"\bcanted\b|\b(?:tilted|slanted|skewed|oblique) (?:camera )?"
            r"(?:angle|perspective|view|shot|frame|horizon|composition)\b|\btilted horizon\b|"
            r"\b(?:image|photo|picture|composition|frame|horizon) (?:is|has|appears) "
            r"(?:\w+ ){0,2}?tilt(?:ed)?\b(?! (?:up|down))"
        ),
    ),
)  # fmt: skip
_ANGLE_CUES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "high angle",
        re.compile(
            r"\belevated\b|\b(?:from|slightly|just|viewed|shot|taken|positioned) above\b|"
            r"\babove the eyes\b|\blook(?:s|ing)? (?:\w+ )?down\b|"
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
            r"\bbelow the eyes\b|\bangled (?:\w+ )?up\b|"
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
            r"\bnormal (?:angle|perspective)\b|\b(?:chest|waist|table|head) (?:height|level)\b"
        ),
    ),
)
_ABOUT_CAMERA = re.compile(
    r"\b(?:angles?|angled|camera|shots?|view|viewed|perspective|viewpoint|vantage|photographed|"
    r"seen from|captured|taken|filmed|framed|lens|aerial|drone)\b"
)


def read_angle(caption: CaptionText) -> Labels:
    """The camera angles that a caption states: named angles, else weaker cues, else none.

    "Eye level" and "straight on" are level, "bird's eye", "overhead" and "top-down" high,
    "tilted" and "canted" Dutch; "from above" or "looking up" count if no angle is named.
    """
    spoken = (_without_off_eyes(caption.spoken(number)) for number in range(len(caption.sentences)))
    sentences = [sentence for sentence in spoken if _ANGLE_TOPIC.search(sentence)]
    angles = matching_labels(_ANGLE_NAMES, sentences)
    if angles:
        return Labels(angles, "The caption names the camera angle.")
    on_camera = [sentence for sentence in sentences if _ABOUT_CAMERA.search(sentence)]
    cues = matching_labels(_ANGLE_CUES, on_camera)
    if cues:
        return Labels(cues, "The caption describes where the camera looks from.")
    return Labels((), "The caption says nothing of the camera angle.")


def _without_off_eyes(sentence: str) -> str:
    """Rewrite "above the couple's eye level", lest it be taken for eye level."""
    return _OFF_EYES.sub(_height, sentence)


def _height(match: re.Match[str]) -> str:
    if match.group(1) == "from":
        return match.group()
    return "below the eyes" if match.group(1) in {"below", "under"} else "above the eyes"
