"""The payloads of CAPability's questions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ElementQuestion:
    """Does the caption state one annotated visual element, and rightly? (paper 3.3)

    `task` is one of the 13 columns. `element` is what the judge compares with: the
    annotated category, sentence, text or name, or, for object_number, object_color and
    dynamic_object_number, the number or colour of `object` (empty elsewhere).
    For the category tasks (style, camera_angle, camera_movement) `element` is the ground
    truth that the judge does not see.
    """

    task: str
    element: str
    object: str = ""


@dataclass(frozen=True, slots=True)
class MediaQuestion:
    """A question of the QA form, asked on the picture or clip itself (paper 3.4, KT-bar).

    `options` carry their letters ("A. 2"); none for an open question. `joins` names the
    caption item and ordinal whose outcome KT-bar sets against this one's, None when no
    annotation belongs to the question. `question_id` is the row index of the QA file.
    """

    task: str
    question: str
    options: tuple[str, ...]
    answer: str
    joins: tuple[str, int] | None
    question_id: str = ""
