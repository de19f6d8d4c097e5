"""The 13 tasks of CAPability in the column order of the paper's tables, as data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

NOT_STATED = "n/a"
"""The judge's label, in lower case, if a caption states no category (Fig. A3)."""


class Medium(StrEnum):
    """The medium of a task: static dimensions have images, dynamic ones videos."""

    IMAGE = "image"
    VIDEO = "video"


class Form(StrEnum):
    """The form of a task's annotations, which determines how it is asked."""

    TEXT = "a text"
    NUMBER = "one object with its number"
    COLOUR = "one object with its colour"
    NUMBERS = "objects with their numbers"
    CATEGORY = "one of the task's categories"


@dataclass(frozen=True, slots=True)
class Category:
    """A category's exact annotation string, and its explanation in the judge's prompt."""

    name: str
    explanation: str

    @property
    def line(self) -> str:
        """`name: explanation`, as in Fig. A3."""
        return f"{self.name}: {self.explanation}"


@dataclass(frozen=True, slots=True)
class Task:
    """A column of the results. `question` is the readable question, with an `{object}` placeholder.

    `open_qa`: the QA form has no options (appendix B.4).
    """

    name: str
    title: str
    media: Medium
    form: Form
    question: str
    categories: tuple[Category, ...] = ()
    open_qa: bool = False

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the categories; empty for an open task."""
        return tuple(category.name for category in self.categories)


# The explanations of the camera movements are those of Fig. A3, its "makeing" included.
_MOVEMENTS = (
    Category(
        "left", "the camera angle swings left (pan left), or the camera moves left (track left)"
    ),
    Category(
        "right",
        "the camera angle swings right (pan right), or the camera moves right (track right)",
    ),
    Category("up", "the camera angle swings up (tilt up), or the camera moves up (boom up)"),
    Category(
        "down", "the camera angle swings down (tilt down), or the camera moves down (boom down)"
    ),
    Category("in", "camera pushes toward the subject (dolly in), or enlarges the frame (zoom in)"),
    Category(
        "out",
        "camera moves away the subject (dolly out), or expands the visible area, makeing the"
        " subject appear smaller (zoom out)",
    ),
    Category("fixed", "camera is almost fixed and does not change"),
)
# The paper gives no explanations for these two; the wording is ours.
_ANGLES = (
    Category("level angle", "the camera looks straight ahead, at the height of the subject"),
    Category("high angle", "the camera looks down on the subject from above"),
    Category("low angle", "the camera looks up at the subject from below"),
    Category("dutch angle", "the camera is tilted to one side, so that the horizon is slanted"),
)
_STYLES = (
    Category(
        "realistic", "it looks like a photograph of the real world, or is painted to look real"
    ),
    Category("animated", "it looks like a cartoon, an anime or a computer animation"),
    Category("special effect", "a real shot altered by visual effects, compositing or filters"),
    Category("old-fashioned", "it looks like an old photograph or film: faded, sepia or grainy"),
    Category("pixel art", "it is drawn in coarse, visible pixels"),
    Category("sketch art", "it is drawn in lines, as with a pencil, pen or charcoal"),
    Category(
        "abstract art", "it is made of shapes, colours and lines that depict nothing directly"
    ),
    Category("impressionism art", "it is painted in visible strokes that catch light and mood"),
    Category("cubism art", "its subjects are broken into geometric forms seen from several sides"),
)

_TABLE = (
    Task(
        "object_category", "Object category", Medium.IMAGE, Form.TEXT,
        "Does the caption name this object?",
    ),
    Task(
        "object_number", "Object number", Medium.IMAGE, Form.NUMBER,
        "How many {object} does the caption say there are?",
    ),
    Task(
        "object_color", "Object color", Medium.IMAGE, Form.COLOUR,
        "What color does the caption say {object} is?", open_qa=True,
    ),
    Task(
        "spatial_relation", "Spatial relation", Medium.IMAGE, Form.TEXT,
        "Does the caption state this spatial relation?",
    ),
    Task("scene", "Scene", Medium.IMAGE, Form.TEXT, "Does the caption name this scene?"),
    Task(
        "camera_angle", "Camera angle", Medium.IMAGE, Form.CATEGORY,
        "Which camera angle does the caption state?", _ANGLES,
    ),
    Task("OCR", "OCR", Medium.IMAGE, Form.TEXT, "Does the caption give this text?", open_qa=True),
    Task(
        "style", "Style", Medium.IMAGE, Form.CATEGORY,
        "Which style does the caption state?", _STYLES,
    ),
    Task(
        "character_identification", "Character identification", Medium.IMAGE, Form.TEXT,
        "Does the caption name this character?", open_qa=True,
    ),
    Task(
        "dynamic_object_number", "(D) Object number", Medium.VIDEO, Form.NUMBERS,
        "How many {object} does the caption say there are?",
    ),
    Task("action", "Action", Medium.VIDEO, Form.TEXT, "Does the caption describe this action?"),
    Task(
        "camera_movement", "Camera movement", Medium.VIDEO, Form.CATEGORY,
        "Which camera movement does the caption state?", _MOVEMENTS,
    ),
    Task("event", "Event", Medium.VIDEO, Form.TEXT, "Does the caption describe this event?"),
)  # fmt: skip
TASKS: dict[str, Task] = {task.name: task for task in _TABLE}
NAMES = tuple(TASKS)
ALTERNATIVES = (
    TASKS["camera_angle"].labels,
    TASKS["style"].labels,
    # Names of movements are common words in captions; these are the terms of Fig. A3.
    ("pan left", "pan right", "tilt up", "tilt down", "zoom in", "zoom out"),
)
"""Groups of names of which an honest caption states one or a few."""
