"""style: which of the nine styles does the caption itself state?

Fig. A3: only what the caption says about the style counts, the annotation is not visible, and
silence is "N/A". The released prompt expects a list: all stated styles are given.
"""

from __future__ import annotations

import re

from caliper.lexical.judgements import Labels
from caliper.lexical.text import CaptionText, matching_labels

_TOPIC = re.compile(
    r"\b(?:style[ds]?|stylized|stylised|stylistic|aesthetics?|art|artistic|artwork|painting|"
    r"painted|drawing|drawn|illustrations?|illustrated|illustrative|photographs?|photo|image|"
    r"picture|video|scene|animations?|animated|anime|cartoon\w*|render\w*|sketch\w*|depict\w*|"
    r"realis\w+|realistic\w*|photorealis\w+|effects?|vintage|retro|pixel\w*|abstract\w*|"
    r"impressionis\w+|cubis\w+|brush\w*|technique|graphics?|overall|appearance|visuals?|"
    r"composition|footage|film|cgi|quality|feel|look)\b"
)
_WHOLE = re.compile(
    r"\b(?:images?|pictures?|photo\w*|artwork|art|painting|drawing|illustration|scene|video|overall|"
    r"screenshot|poster|render\w*|composition|graphics?|portrait|visuals?|footage|game|sketch)\b"
)
_NAMES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "realistic",
        re.compile(
            r"(?<!non )(?<!hyper stylized )\b(?:photo ?|hyper ?)?realistic(?:ally)?\b|"
            r"\b(?:photo|hyper)?realism\b|\bphotorealis\w+|\btrue to life\b|\blifelike\b"
        ),
    ),
    (
        "animated",
        re.compile(
            r"\banimat(?:ed|ion)\b|\banime\b|\bcartoon\w*|\bmanga\b|\bcomic\b|\bcgi\b|"
            r"\b3d (?:rendered|render|rendering|model\w*)\b|\bchibi\b|\bpixar\b"
        ),
    ),
    (
        "special effect",
        re.compile(
            r"\bspecial effects?\b|\bvisual effects?\b|\bvfx\b|\bdigital effects?\b|"
            r"\bspecial effect\b|\bdouble exposure\b|\bglitch\b|\blong exposure\b|"
            r"\b(?:tilt shift|fish ?eye|bokeh|lens|blur|motion blur|lighting|neon|glowing|"
            r"distortion|kaleidoscop\w+|x ray|infrared|thermal|hdr) effects?\b"
        ),
    ),
    (
        "old-fashioned",
        re.compile(
            r"\bold fashioned\b|\bvintage\b|\bretro\b|\bsepia\b|\bantique\b|\bnostalgi\w+|"
            r"\bold (?:time|style|timey|school|photo\w*|film)\b|\bearly 20th century\b|"
            r"\b(?:19th|18th) century (?:style|photo\w*)\b|\bhistorical (?:photo\w*|style)\b"
        ),
    ),
    (
        "pixel art",
        re.compile(r"\bpixel(?:ated|ized|ised)?(?: art| style|s)?\b|\b(?:8|16|32) bit\b"),
    ),
    (
        "sketch art",
        re.compile(
            r"\bsketch(?:es|ed|y)?\b|\bpencil\b|\bline (?:art|drawing)\b|\bcharcoal\b|"
            r"\b(?:hand drawn|ink|pen and ink|black and white) (?:drawing|illustration)\b|"
            r"\bhand drawn\b|\bmonochrome drawing\b|\betching\b|\bengraving\b"
        ),
    ),
    (
        "abstract art",
        re.compile(
            r"\babstract(?:ion|ed|ly)?\b(?! (?:pattern|design|logo|shapes? on|background))|"
            r"\babstractionis\w+|\babstract expressionis\w+|\bnon representational\b"
        ),
    ),
    ("impressionism art", re.compile(r"\b(?:post )?impressionis(?:m|t|tic)\w*")),
    ("cubism art", re.compile(r"\bcubis(?:m|t|tic)\w*")),
)
_CUES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("sketch art", re.compile(r"\b(?:drawing|drawn|cross hatching|etched)\b")),
    (
        "animated",
        re.compile(
            r"\billustrat(?:ion|ed|ive)\b|\bdigital (?:art|artwork|painting|rendering)\b|"
            r"\bstylized\b|\bstylised\b|\brendered\b|\bfantasy (?:art|style)\b|\bwhimsical\b|"
            r"\bvideo game\b|\bcomputer generated\b|\bgraphic novel\b"
        ),
    ),
    (
        "special effect",
        re.compile(
            r"\bsurreal\w*|\bfuturistic\b|\bdreamlike\b|\bdigitally (?:altered|manipulated)\b|"
            r"\bcomposite\b|\bethereal\b|\bpsychedelic\b|\bcyberpunk\b"
        ),
    ),
    (
        "impressionism art",
        re.compile(r"\b(?:loose|visible|thick|expressive) (?:\w+ )?brush ?(?:strokes?|work)\b"),
    ),
    ("cubism art", re.compile(r"\bgeometric (?:shapes|forms|style)\b|\bfragmented\b")),
    (
        "old-fashioned",
        re.compile(r"\bblack and white\b|\bmonochrom\w+|\baged\b|\bclassical\b|\btraditional\b"),
    ),
    (
        "realistic",
        re.compile(
            r"\bphotograph\w*|\bphotos?\b|\bdocumentary\b|\bcandid\b|\bnaturalistic\b|"
            r"\bnatural\b|\blive action\b|\breal life\b|\bauthentic\b|"
            r"\bhigh (?:definition|quality)\b"
        ),
    ),
)


def read_style(caption: CaptionText) -> Labels:
    """The styles that a caption states in sentences about the picture or its style.

    Sentences that say "style" take precedence: an old car in a realistic style is realistic. If
    no style is named, the first matching cue ("illustration", "photograph") counts.
    """
    spoken = [caption.spoken(number) for number in range(len(caption.sentences))]
    on_topic = [sentence for sentence in spoken if _TOPIC.search(sentence)]
    on_style = [text for text in on_topic if "style" in text or "aesthetic" in text]
    on_whole = [sentence for sentence in on_topic if _WHOLE.search(sentence)]
    styles = matching_labels(_NAMES, on_style) or matching_labels(_NAMES, on_whole)
    if styles:
        return Labels(styles, "The caption names the style.")
    for label, pattern in _CUES:
        if any(pattern.search(sentence) for sentence in on_topic):
            return Labels((label,), "The caption describes the picture in that style.")
    styles = matching_labels(_NAMES, spoken)
    if styles:
        return Labels(styles, "The caption names the style of something in the picture.")
    return Labels((), "The caption says nothing of the style.")
