"use strict";
// Buttons that copy a table as Markdown or LaTeX, and its chart or a figure as SVG.
(() => {
  const DRAWN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-size", "text-anchor"];
  // Every page has a drawing in its head.
  const NAMESPACE = document.querySelector("svg").namespaceURI;
  const ROW = 24;
  const flat = (text) => text.replace(/\s+/g, " ").trim();

  const cellText = (cell) => {
    const value = cell.querySelector(".value");
    if (!value) return flat([...cell.childNodes].map((each) => each.textContent).join(" "));
    const interval = cell.querySelector(".interval");
    return flat(value.textContent) + (interval ? ` (${flat(interval.textContent)})` : "");
  };
  const head = (cell) => (cell.querySelector(".unseen") ? "" : flat(cell.textContent));
  const cells = (row) => [...row.cells].filter((cell) => !cell.classList.contains("chart"));
  const grid = (table) => [
    cells(table.tHead.rows[0]).map(head),
    ...[...table.tBodies[0].rows].map((row) => cells(row).map(cellText)),
  ];

  const markdown = (table) => {
    const line = (row) => `| ${row.map((text) => text.replace(/[\\|`*_<[\]]/g, "\\$&")).join(" | ")} |`;
    const [first, ...rows] = grid(table);
    const rule = first.map((_, place) => (place ? "---:" : "---"));
    return [line(first), `| ${rule.join(" | ")} |`, ...rows.map(line), ""].join("\n");
  };

  const LATEX = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "−": "$-$" };
  const latex = (table) => {
    const plain = (text) => text.replace(/[\\~^−]|[&%$#_{}]/g, (sign) => LATEX[sign] ?? `\\${sign}`);
    const line = (row) => `${row.map(plain).join(" & ")} \\\\`;
    const [first, ...rows] = grid(table);
    return [
      "% \\usepackage{booktabs}",
      `\\begin{tabular}{l${"r".repeat(first.length - 1)}}`,
      ...["\\toprule", line(first), "\\midrule", ...rows.map(line), "\\bottomrule"],
      "\\end{tabular}",
      "",
    ].join("\n");
  };

  // A copy that needs no style sheet.
  const drawn = (shape) => {
    const copy = shape.cloneNode(true);
    const originals = [shape, ...shape.querySelectorAll("*")];
    [copy, ...copy.querySelectorAll("*")].forEach((each, place) => {
      const style = getComputedStyle(originals[place]);
      for (const name of DRAWN) each.setAttribute(name, style.getPropertyValue(name));
      for (const name of ["class", "aria-hidden", "focusable"]) each.removeAttribute(name);
    });
    return copy;
  };
  const shape = (tag, attributes, text) => {
    const made = document.createElementNS(NAMESPACE, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const canvas = (width, height) => {
    const { backgroundColor: fill, color } = getComputedStyle(document.body);
    const made = shape("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
    made.setAttribute("font-family", "sans-serif");
    made.append(shape("rect", { width: "100%", height: "100%", fill }));
    return [made, color];
  };
  const text = (svg) => new XMLSerializer().serializeToString(svg);

  const chart = (table) => {
    const [label, bars, value] = [220, 420, 190];
    const rows = [...table.tBodies[0].rows];
    const axis = table.tHead.querySelector(".chart svg");
    const title = flat(table.tHead.querySelector(".chart span").textContent);
    const column = grid(table)[0].indexOf(title);
    const [svg, fill] = canvas(label + bars + value, ROW * (rows.length + 2));
    svg.append(shape("text", { x: label, y: 16, "font-size": 12, fill }, title));
    const put = (drawing, y) => {
      const copy = drawn(drawing);
      for (const [name, set] of Object.entries({ x: label, y, width: bars })) copy.setAttribute(name, set);
      svg.append(copy);
    };
    put(axis, ROW);
    rows.forEach((row, place) => {
      const y = ROW * (place + 2);
      const words = { y: y + 14, "font-size": 12, fill };
      svg.append(shape("text", { x: 4, ...words }, cellText(row.cells[0])));
      put(row.querySelector(".chart svg"), y);
      if (column > 0) svg.append(shape("text", { x: label + bars + 10, ...words }, cellText(cells(row)[column])));
    });
    return text(svg);
  };
  const figure = (svg) => {
    const { width, height } = svg.getBoundingClientRect();
    const [made] = canvas(Math.round(width), Math.round(height));
    made.append(drawn(svg));
    return text(made);
  };

  const copy = async (words) => {
    try {
      await navigator.clipboard.writeText(words);
    } catch {
      // A page in a frame may not write to the clipboard, but people may copy.
      const area = document.createElement("textarea");
      area.value = words;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  };

  const tools = (place, title, ways) => {
    const bar = document.createElement("p");
    bar.className = "copy";
    const said = document.createElement("output");
    for (const [name, make] of Object.entries(ways)) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "plain";
      button.textContent = `Copy ${name}`;
      button.setAttribute("aria-label", `Copy ${title} as ${name}`);
      button.addEventListener("click", async () => {
        await copy(make());
        button.focus();
        said.textContent = `${name} copied.`;
      });
      bar.append(button);
    }
    bar.append(said);
    place.after(bar);
  };

  for (const region of document.querySelectorAll(".scroll:has(table:not(.runs))")) {
    const table = region.querySelector("table");
    const ways = { Markdown: () => markdown(table), LaTeX: () => latex(table) };
    if (table.querySelector("thead .chart svg")) ways.SVG = () => chart(table);
    tools(region, region.getAttribute("aria-label"), ways);
  }
  for (const svg of document.querySelectorAll("svg[role=img]")) {
    tools(svg, svg.getAttribute("aria-label"), { SVG: () => figure(svg) });
  }
})();
