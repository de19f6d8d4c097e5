"""Writes caption_metrics.json: COCO's evaluation of the captions below. Needs Java.

In an environment of its own: pip install pycocoevalcap==1.2, then run this file. Plain CIDEr is
that package's scorer without clipping and length penalty, as in the authors' cider_scorer.py.
"""

import inspect
import json
import subprocess
import sys
from pathlib import Path

from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider import cider_scorer
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.meteor.meteor import Meteor
from pycocoevalcap.rouge.rouge import Rouge
from pycocoevalcap.tokenizer import ptbtokenizer

CAPTIONS = {
    "1": "A man in a blue T-shirt rides a well-worn bicycle down the street.",
    "2": "Two dogs are playing with a frisbee in the park; one's tail is wagging.",
    "3": 'The sign reads "OPEN 24/7" (in red letters) above the door of Joe\'s Diner.',
    "4": "A cat.",
    "5": "There isn't anything on the table, except a half-full cup of coffee...",
    "6": "Mr. Lee's shop in Washington, D.C. sells 10,000 toys for $5.50 each, at 50% off!",
    "7": "A plate of food",
    "8": "",
    "9": "A bus bus bus bus bus on the road on the road.",
    "10": "A young girl, about 5-6 years old, can't reach the top shelf \u2014 she's too small.",
    "11": "\u201cWelcome\u201d is written on a colourful mat in front of a grey, wooden door.",
    "12": "A train is at the station. The train is red. People wait on the platform, etc.",
}
REFERENCES = {
    "1": ["A man rides a bicycle down the street.", "A cyclist in a blue t-shirt on a city street",
          "A man wearing blue is riding his bike."],
    "2": ["Two dogs play with a frisbee in the park.", "A pair of dogs playing in the grass"],
    "3": ["A diner's sign that says OPEN 24/7 in red letters.", "The door of Joe's Diner.",
          "A neon sign above a door", "A restaurant at night, with its sign lit.", "Open sign"],
    "4": ["A cat is lying on a couch next to a remote control.", "A cat sleeps on the sofa."],
    "5": ["A half-full cup of coffee is on the table.", "A cup on a table, and nothing else."],
    "6": ["A toy shop in Washington, D.C. with a 50% off sale.", "Mr. Lee stands before his shop."],
    "7": ["A plate of food", "A plate with rice, beans & a fried egg on it"],
    "8": ["An empty street at night."],
    "9": ["A bus is driving on the road.", "A city bus on a busy road with cars"],
    "10": ["A small girl tries to reach the top shelf.",
           "The girl can't reach it, she's too small."],
    "11": ["A colorful welcome mat in front of a gray wooden door.", "A mat that says 'Welcome'."],
    "12": ["A red train at the station, with people waiting on the platform.",
           "People are waiting for the train.", "A red train arrives."],
}  # fmt: skip
TEXTS = Path(__file__).with_name("treebank_texts.txt").read_text("utf-8").splitlines()


def tokens(texts: list[str]) -> list[str]:
    listed = {number: [{"caption": text}] for number, text in enumerate(texts)}
    lines = ptbtokenizer.PTBTokenizer().tokenize(listed)
    return [lines.get(number, [""])[0] for number in listed]


def plain_cider() -> object:
    names = dict(vars(cider_scorer))
    source = inspect.getsource(cider_scorer.CiderScorer)
    for old, new in (
        ("min(vec_hyp[n][ngram], vec_ref[n][ngram])", "vec_hyp[n][ngram]"),
        ("val[n] *= np.e**(-(delta**2)/(2*self.sigma**2))", "pass"),
    ):
        if old not in source:
            sys.exit(f"another release of pycocoevalcap: {old}")
        source = source.replace(old, new)
    exec(source, names)  # noqa: S102 - the package's own code
    return names["CiderScorer"]()


class Recorder:
    """METEOR's process. Keeps each line that it is sent, and the lines that it answers."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process, self.stdin, self.stdout = process, self, self
        self.lines: dict[str, list[str]] = {}

    def write(self, data: bytes) -> None:
        self._answers = self.lines.setdefault(data.decode().removesuffix("\n"), [])
        self._process.stdin.write(data)

    def flush(self) -> None:
        self._process.stdin.flush()

    def readline(self) -> bytes:
        line = self._process.stdout.readline()
        self._answers.append(line.decode().strip())
        return line

    def close(self) -> None:
        self._process.stdin.close()

    def kill(self) -> None:
        self._process.kill()

    def wait(self) -> None:
        self._process.wait()


def meteor(wanted: dict[str, list[str]], found: dict[str, list[str]]) -> dict[str, object]:
    scorer = Meteor()
    scorer.meteor_p = recorder = Recorder(scorer.meteor_p)
    whole, each = scorer.compute_score(wanted, found)
    by_image = dict(zip(found, each, strict=True))
    return {"whole": whole, "by_image": by_image, "lines": recorder.lines}


def main() -> None:
    images = list(CAPTIONS)
    flat = [*CAPTIONS.values(), *(text for texts in REFERENCES.values() for text in texts)]
    by_text = dict(zip(flat, tokens(flat), strict=True))
    found = {image: [by_text[CAPTIONS[image]]] for image in images}
    wanted = {image: [by_text[text] for text in REFERENCES[image]] for image in images}
    metrics = {}
    whole, each = Bleu(4).compute_score(wanted, found, verbose=0)
    for order in range(4):
        metrics[f"BLEU-{order + 1}"] = (whole[order], each[order])
    metrics["ROUGE-L"] = Rouge().compute_score(wanted, found)
    plain = plain_cider()
    for image in images:
        plain += (found[image][0], wanted[image])
    metrics["CIDEr"] = plain.compute_score()
    metrics["CIDEr-D"] = Cider().compute_score(wanted, found)
    written = {
        "captions": CAPTIONS,
        "references": REFERENCES,
        "metrics": {
            name: {
                "whole": round(float(value), 6),
                "by_image": {
                    image: round(float(one), 6) for image, one in zip(images, values, strict=True)
                },
            }
            for name, (value, values) in metrics.items()
        },
        "meteor": meteor(wanted, found),
        "tokens": dict(zip(TEXTS, tokens(TEXTS), strict=True)) | by_text,
    }
    text = json.dumps(written, indent=1, ensure_ascii=False)
    Path(__file__).with_name("caption_metrics.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
