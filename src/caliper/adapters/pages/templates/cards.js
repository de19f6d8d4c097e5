"use strict";
// The cards of samples.
const CARDS = (() => {
  // Everything from the data becomes text, never markup.
  const element = (tag, className, text) => {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const labelled = (className, label, text) => {
    const line = element("p", className);
    line.append(element("b", "", `${label} `), text);
    return line;
  };
  const link = (kind, value, text, title) => {
    const made = element("a", "link", text);
    made.href = `#${new URLSearchParams({ [kind]: value })}`;
    made.title = title;
    return made;
  };
  const sampleOf = (row) => `${row.benchmark}/${row.sample}`;

  const outcomeOf = (row) =>
    row.reason ? `${row.outcome}: ${row.reason.replaceAll("_", " ")}` : row.outcome;
  const outcomesOf = (rows) => {
    const tally = new Map();
    for (const row of rows) tally.set(outcomeOf(row), (tally.get(outcomeOf(row)) ?? 0) + 1);
    return rows.length < 2
      ? outcomeOf(rows[0])
      : [...tally].map(([outcome, count]) => `${outcome} (${count})`).join(", ");
  };
  const tone = (rows) => {
    if (rows.some((row) => row.outcome !== rows[0].outcome)) return "middle";
    if (rows[0].score === null) return "missing";
    return { correct: "good", wrong: "bad" }[rows[0].outcome] ?? "middle";
  };

  const pictureBox = (row, pictures) => {
    const box = element("div", "pictures");
    for (const key of row.pictures) {
      if (!(key in pictures)) continue;
      const image = element("img");
      image.src = pictures[key];
      image.alt = `Sample ${row.item}`;
      image.loading = "lazy";
      box.append(image);
    }
    const others = row.media - box.childElementCount;
    if (!box.childElementCount) box.append(element("div", "nothing", "no picture"));
    else if (others > 0) box.append(element("span", "others", `and ${others} more`));
    return box;
  };

  const captionBlock = (text) => {
    if (!text) return [element("p", "caption none", "No caption.")];
    const caption = element("blockquote", "caption", text);
    caption.classList.add("clamped");
    const tools = element("div", "tools");
    const toggle = element("button", "plain", "Whole caption");
    toggle.type = "button";
    toggle.setAttribute("aria-expanded", "false");
    toggle.addEventListener("click", () => {
      const clamped = caption.classList.toggle("clamped");
      toggle.setAttribute("aria-expanded", String(!clamped));
      toggle.textContent = clamped ? "Whole caption" : "Less of it";
    });
    tools.append(toggle);
    return [caption, tools];
  };

  // The explanation and the reply, where there are any.
  const judgement = (row) => {
    const why = row.explanation ? [labelled("explanation", "Why", row.explanation)] : [];
    if (!row.reply) return [why, []];
    const details = element("details", "reply");
    const repaired = row.repaired ? ", repaired when read" : "";
    details.append(element("summary", "", `Reply of ${row.judge}${repaired}`));
    details.append(element("pre", "", row.reply));
    return [why, [details]];
  };

  const repeats = (rows) => {
    const list = element("ol", "repeats");
    for (const row of rows) {
      const line = element("li", tone([row]));
      line.value = row.repeat + 1;
      line.append(element("span", "outcome", outcomeOf(row)), ...judgement(row).flat());
      list.append(line);
    }
    return list;
  };

  // The card of the verdicts about a question; `place` is [its place, of how many] in the list.
  const card = (rows, place, { captions, pictures, names }) => {
    const [row] = rows;
    const caption = captionBlock(captions[sampleOf(row)]);
    const made = element("li", `card ${tone(rows)}`);
    made.tabIndex = 0;
    made.setAttribute("aria-label", `${outcomesOf(rows)}: ${row.question}`);
    made.setAttribute("aria-posinset", String(place[0]));
    made.setAttribute("aria-setsize", String(place[1]));
    const body = element("div");
    const top = element("div", "top");
    const item = rows.length < 2 && row.repeat ? `${row.item} #${row.repeat + 1}` : row.item;
    const title = names.benchmark[row.benchmark] ?? row.benchmark;
    const dimension = names.dimension[row.dimension] ?? row.dimension;
    const kind = [title, dimension, row.category].filter(Boolean).join(" · ");
    top.append(element("span", "outcome", outcomesOf(rows)), element("span", "kind", kind));
    const places = element("span", "item");
    places.append(
      link("sample", sampleOf(row), item, "All questions about this sample"),
      " ",
      link("verdict", String(row.index), "Link", "A link to this verdict"),
    );
    top.append(places);
    body.append(top, element("p", "question", row.question));
    if (row.expected) body.append(labelled("expected", "Expected", row.expected));
    if (rows.length > 1) body.append(repeats(rows), ...caption);
    else {
      const [why, reply] = judgement(row);
      body.append(...why, ...caption, ...reply);
    }
    made.append(pictureBox(row, pictures), body);
    return made;
  };

  // Whether a caption fits its lines is known once it is laid out.
  const dropNeedlessToggles = (added) => {
    const captionsOf = added.map((one) => one.querySelector(".caption.clamped")).filter(Boolean);
    const fits = captionsOf.filter((one) => one.scrollHeight <= one.clientHeight + 1);
    for (const caption of fits) {
      caption.classList.remove("clamped");
      caption.nextElementSibling.remove();
    }
  };

  return { element, sampleOf, card, dropNeedlessToggles };
})();
