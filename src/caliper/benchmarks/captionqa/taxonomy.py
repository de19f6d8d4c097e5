"""The taxonomy listed in the taxonomy-hinted caption prompt (paper 10).

Top-level categories and their subcategories follow the four tables after paper 11: the text
before a colon is the subcategory, and examples in parentheses are left out. Document, E-commerce
and Embodied AI have the 15, 16 and 16 subcategories of paper Table 1. The printed Natural table
has 31 although Table 1 counts 22; the released taxonomy has these 22, with printed ones merged.
"""

from __future__ import annotations

TAXONOMIES = {
    "natural": {
        "Object Existence": "Object presence, Use of named entities",
        "Attribute": "Color, Shape, Size, Textual, Material, State, Count / Quantity, "
        "Part-whole relationships",
        "Spatial": "Positional relationships, Orientation, Containment, Attachment, "
        "Distance between objects, Clustering, Scene composition, Symmetry / asymmetry, "
        "Overlapping / occlusion",
        "Action and Interaction": "Object-object interaction, Object-human interaction, "
        "Human-human interaction, Temporal state",
        "Scene-Level Evaluation": "Environment / setting, Weather conditions, Time of day, "
        "Shadows and reflections, Light source directionality",
        "Hallucination": "Object evaluation, Scene evaluation, Action evaluation",
    },
    "document": {
        "Structural Elements": "Layout, Spatial relationships",
        "Content-Level Evaluation": "Text-content, Visual elements",
        "Chart-Specific Elements": "Chart types, Axes and labels, Legends, Data points",
        "Table-Specific Elements": "Table structure, Content, Relationships",
        "Diagram-Specific Elements": "Types of diagrams, Components, Relationships",
        "Domain-Specific Evaluation": "Domain-specific information",
    },
    "ecommerce": {
        "Product-Level Information": "Product category, Product attributes, Product condition",
        "Contextual and Scene Information": "Usage context, Completeness of scene",
        "Visual Appearance and Presentation": "Image quality, Background, Perspective and angles",
        "Functional Information": "Intended use, Performance characteristics, Compatibility",
        "Brand and Marketing Information": "Branding, Promotional elements",
        "Textual Elements in Image": "Embedded text recognition",
        "Packaging and Accessories": "Packaging description, Accessories",
    },
    "embodiedai": {
        "Perception": "Object recognition, Attribute, Relationships, Interaction",
        "Spatial and Environment Context": "Spatial, Environmental description",
        "Activity and Task Context": "Task identification, Implied actions, "
        "Human-robot interaction",
        "Scene Dynamics": "Motion and kinematics, Temporal information",
        "Sensor and Embodiment Information": "Sensor-specific features, Robot embodiment",
        "Functional and Semantic Understanding": "Affordance recognition, Semantic completeness, "
        "Contextual relevance",
    },
}
"""The subcategories of each top-level category, by domain."""


def hints(domain: str) -> str:
    """Format the domain's taxonomy, one line per node: "Top -> Sub" (paper 3.3)."""
    return "\n".join(
        f"{top} -> {sub}" for top, subs in TAXONOMIES[domain].items() for sub in subs.split(", ")
    )
