"""action and event: does the caption describe what happens?

protocols.md 1. action: 0 only if the caption names no action at all; if it names only others, -1.
event: 0 if the caption is about something else. Captions that deny an event are too rare for a
rule, so an event is right or not mentioned.
"""

from __future__ import annotations

from caliper.lexical.deeds import action_coverage, event_coverage
from caliper.lexical.judgements import RIGHT, SILENT, WRONG, Judgement
from caliper.lexical.text import CaptionText
from caliper.lexical.vocabulary import word_set
from caliper.lexical.words import PRONOUNS, concept, related_meanings

_ACTION_ENOUGH = 0.55
_EVENT_ENOUGH = 0.6
_NOT_ACTIONS = word_set("""
    being building ceiling morning evening during something nothing everything anything string
    king ring wing spring thing clothing lighting painting setting surrounding surroundings
    featuring showing depicting suggesting indicating creating adding including having king
    interesting living dining wedding housing parking railing flooring engaging following giving
    providing capturing showcasing emphasizing highlighting reflecting enhancing consisting
    containing resembling appearing remaining long panning tilting zooming moving shooting filming
    drawing meaning opening beginning ending evoking contributing conveying focusing
""")
_STATES = word_set("""
    walks runs sits stands holds looks moves talks speaks plays rides drives eats drinks turns
    enters leaves picks puts takes opens closes jumps dances sings throws catches falls climbs
    swims flies points waves smiles laughs cries reads writes cooks cuts pours wears approaches
    gestures leans rises lifts pulls pushes hits kicks fights shoots hugs kisses carries gives
    walk run sit stand hold look move talk speak play ride drive eat drink turn enter jump dance
    sing engages interacts performs reaches touches raises lowers steps
""")

_ACTORS = frozenset(
    actor
    for kind in ("person", "animal", "vehicle", "robot", "monster", "insect", "team", "hand")
    for actor in (*related_meanings(concept(kind)), *PRONOUNS)
)


def names_action(caption: CaptionText) -> bool:
    """Whether the caption names any action.

    It does with a present participle or a common action verb, and a possible actor.
    """
    return any(caption.stated(one) for one in _ACTORS) and any(
        word in _STATES or (word.endswith("ing") and len(word) > 4 and word not in _NOT_ACTIONS)
        for word in caption.words
    )


def judge_action(caption: CaptionText, element: str) -> Judgement:
    """Score an action by the blended overlap of its words with the caption."""
    overlap = action_coverage(caption, element)
    if overlap >= _ACTION_ENOUGH:
        return Judgement(RIGHT, f"The caption tells {element!r} (overlap {overlap:.2f}).")
    if names_action(caption):
        return Judgement(WRONG, f"The caption tells other actions (overlap {overlap:.2f}).")
    return Judgement(SILENT, "The caption names no action.")


def judge_event(caption: CaptionText, element: str) -> Judgement:
    """Score an event by the blended overlap of its words with the caption."""
    overlap = event_coverage(caption, element)
    if overlap >= _EVENT_ENOUGH:
        return Judgement(RIGHT, f"The caption tells the event (overlap {overlap:.2f}).")
    return Judgement(SILENT, f"The caption does not tell the event (overlap {overlap:.2f}).")
