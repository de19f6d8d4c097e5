"""Draw the documents: invoice, chart, report, timetable, flow chart and form.

All names, figures and firms in them are made up. Run: python make_documents.py
"""

# The pages carry the dashes, crosses and signs of real ones.
# ruff: noqa: RUF001

from __future__ import annotations

from common import Letters, Point, font, save, text
from page_tools import BLUE, GREY, INK, arrow, sheet, stamp
from PIL import Image, ImageDraw


def invoice() -> None:
    """An invoice with three lines, tax, a total and a stamp over the table."""
    page, pen = sheet(760, 920)
    text(pen, (50, 50), "INVOICE", Letters(44, BLUE, bold=True))
    text(pen, (710, 55), "Birchwood Tools Ltd", Letters(20, bold=True), anchor="ra")
    text(pen, (710, 84), "12 Mill Lane, Ashford", Letters(16), anchor="ra")
    for row, line in enumerate(
        ("Invoice number: INV-2041", "Date: 14 March 2025", "Due date: 13 April 2025")
    ):
        text(pen, (50, 140 + 28 * row), line, Letters(18))
    text(pen, (430, 140), "Bill to", Letters(18, bold=True))
    text(pen, (430, 168), "Harbour Café", Letters(18))
    text(pen, (430, 196), "5 Quay Street", Letters(18))
    pen.rectangle((50, 270, 710, 312), fill=BLUE)
    columns = ((65, "la"), (470, "ra"), (580, "ra"), (695, "ra"))
    rows = [
        ("Description", "Quantity", "Price", "Amount"),
        ("Paint brush set", "4", "€12.50", "€50.00"),
        ("Oak frame 40 × 50 cm", "2", "€31.00", "€62.00"),
        ("Sandpaper roll", "10", "€3.20", "€32.00"),
    ]
    for index, row in enumerate(rows):
        top = 280 + 52 * index
        for (place, anchor), cell in zip(columns, row, strict=True):
            text(
                pen,
                (place, top),
                cell,
                Letters(18, "white" if index == 0 else INK, bold=index == 0),
                anchor=anchor,
            )
        if index:
            pen.line((50, top + 36, 710, top + 36), fill="#cccccc", width=1)
    totals = (("Subtotal", "€144.00"), ("VAT 20%", "€28.80"), ("Total", "€172.80"))
    for index, (name, amount) in enumerate(totals):
        bold = name == "Total"
        letters = Letters(20 if bold else 18, bold=bold)
        for place, cell in ((580, name), (695, amount)):
            text(pen, (place, 510 + 36 * index), cell, letters, anchor="ra")
    stamp(page, "PAID", (70, 420), 12)
    text(pen, (50, 760), "Please pay within 30 days.", Letters(16))
    text(pen, (50, 786), "Bank account: 0042 1177 3308", Letters(16))
    pen.line((50, 850, 710, 850), fill=GREY)
    text(pen, (380, 866), "Page 1 of 1", Letters(14, GREY), anchor="ma")
    save(page, "invoice.png")


def bar_chart() -> None:
    """Two series of four bars with a legend and labelled axes."""
    page, pen = sheet(800, 560)
    text(pen, (400, 22), "Bicycles sold per quarter", Letters(28, bold=True), anchor="ma")
    left, bottom, height, top_value = 100, 460, 360, 350
    for value in range(0, top_value + 1, 50):
        y = bottom - height * value / top_value
        pen.line((left, y, 760, y), fill="#dddddd")
        text(pen, (left - 10, y), str(value), Letters(14), anchor="rm")
    pen.line((left, bottom, 760, bottom), fill=INK, width=2)
    pen.line((left, bottom - height, left, bottom), fill=INK, width=2)
    series = (("2023", GREY, (120, 210, 260, 150)), ("2024", BLUE, (160, 240, 300, 130)))
    for offset, (_, colour, values) in enumerate(series):
        for quarter, value in enumerate(values):
            x = left + 35 + 165 * quarter + 50 * offset
            y = bottom - height * value / top_value
            pen.rectangle((x, y, x + 46, bottom - 1), fill=colour)
            text(pen, (x + 23, y - 4), str(value), Letters(14), anchor="mb")
    for quarter in range(4):
        text(
            pen,
            (left + 83 + 165 * quarter, bottom + 10),
            f"Q{quarter + 1}",
            Letters(18),
            anchor="ma",
        )
    text(pen, (430, 500), "Quarter", Letters(18), anchor="ma")
    label = Image.new("RGB", (130, 26), "white")
    text(ImageDraw.Draw(label), (65, 2), "Units sold", Letters(18), anchor="ma")
    page.paste(label.rotate(90, expand=True), (20, 215))
    for index, (name, colour, _) in enumerate(series):
        pen.rectangle((650, 72 + 28 * index, 672, 92 + 28 * index), fill=colour)
        text(pen, (682, 82 + 28 * index), name, Letters(16), anchor="lm")
    text(pen, (100, 534), "Source: shop records", Letters(13, GREY))
    save(page, "bar_chart.png")


def revenue_line(pen: ImageDraw.ImageDraw) -> None:
    """The line chart of the report: five years, with grid, marks and values."""
    values = (2.9, 3.1, 3.6, 4.3, 4.8)
    points: list[Point] = []
    for index, value in enumerate(values):
        points.append((130 + 130 * index, 790 - 320 * (value - 2) / 3))
        text(pen, (points[-1][0], 806), str(2020 + index), Letters(16), anchor="ma")
    for tick in (2, 3, 4, 5):
        y = 790 - 320 * (tick - 2) / 3
        pen.line((100, y, 690, y), fill="#e2e2e2")
        text(pen, (90, y), str(tick), Letters(16), anchor="rm")
    pen.line(points, fill="#2a8a3e", width=4)
    for point, value in zip(points, values, strict=True):
        pen.ellipse((point[0] - 6, point[1] - 6, point[0] + 6, point[1] + 6), fill="#2a8a3e")
        text(pen, (point[0], point[1] - 12), str(value), Letters(15), anchor="mb")


def report() -> None:
    """One page of a yearly report: two columns, headings, a line chart, a footnote."""
    page, pen = sheet(760, 980)
    text(
        pen, (380, 40), "Northwind Bakery: Annual Report 2024", Letters(28, bold=True), anchor="ma"
    )
    pen.line((50, 90, 710, 90), fill=INK, width=2)
    left = (
        "1 Results",
        "1.1 Revenue",
        "Revenue rose to $4.8 million,",
        "up 12% from the year before.",
        "1.2 Profit",
        "Net profit was $0.6 million.¹",
        "Margin: 12.5%",
    )
    right = (
        "2 Outlook",
        "2.1 Plans",
        "Two new shops will open",
        "in May 2025.",
        "2.2 Risks",
        "The price of flour may rise",
        "by 5–8% next year.",
    )
    for x, lines in ((50, left), (400, right)):
        for index, line in enumerate(lines):
            heading = line[0].isdigit() and line[1] in " ."
            text(
                pen,
                (x, 120 + 36 * index),
                line,
                Letters(22 if line[1] == " " else 18, BLUE if heading else INK, bold=heading),
            )
    pen.rectangle((50, 410, 710, 850), outline=GREY)
    text(
        pen,
        (380, 424),
        "Revenue in million dollars, 2020 to 2024",
        Letters(18, bold=True),
        anchor="ma",
    )
    revenue_line(pen)
    text(pen, (380, 858), "Figure 1: Revenue has grown every year.", Letters(15, GREY), anchor="ma")
    text(pen, (50, 910), "¹ After tax.", Letters(14))
    text(pen, (710, 940), "7", Letters(16), anchor="ra")
    save(page, "report.png")


def timetable() -> None:
    """A ferry timetable with a merged header cell, a coloured row and a footnote."""
    page, pen = sheet(780, 520, "#fbfaf5")
    text(pen, (40, 26), "Ferry timetable, summer 2025", Letters(28, bold=True))
    edges = (40, 300, 430, 560, 740)
    pen.rectangle((40, 90, 740, 166), fill="#2f6f73")
    for x, words in ((170, "Route"), (650, "Fare (EUR)")):
        text(pen, (x, 128), words, Letters(20, "white", bold=True), anchor="mm")
    text(pen, (430, 109), "Monday to Friday", Letters(18, "white", bold=True), anchor="mm")
    for x, words in ((365, "Departs"), (495, "Arrives")):
        text(pen, (x, 147), words, Letters(18, "white", bold=True), anchor="mm")
    rows = (
        ("Port Ellen – Isla", "07:30", "08:15", "6.50"),
        ("Isla – Port Ellen", "09:00", "09:45", "6.50"),
        ("Port Ellen – Skerry*", "11:20", "12:50", "11.00"),
        ("Skerry – Port Ellen*", "14:10", "15:40", "11.00"),
        ("Harbour tour", "16:30", "–", "9.00"),
    )
    for index, row in enumerate(rows):
        top = 166 + 54 * index
        fill = "#fff1b8" if index == 2 else "white"
        pen.rectangle((40, top, 740, top + 54), fill=fill)
        text(pen, (54, top + 27), row[0], Letters(18, bold=index == 2), anchor="lm")
        for x, cell in zip((365, 495, 650), row[1:], strict=True):
            text(pen, (x, top + 27), cell, Letters(18, bold=index == 2), anchor="mm")
    for y in (90, *range(166, 166 + 54 * 6, 54)):
        pen.line((40, y, 740, y), fill=INK)
    pen.line((300, 128, 560, 128), fill="white")
    for x in edges:
        top = 128 if x == 430 else 90
        pen.line((x, top, x, 436), fill=INK)
    text(pen, (40, 456), "* Not on public holidays.", Letters(16))
    text(pen, (40, 482), "Children under 5 travel free.", Letters(16))
    save(page, "timetable.png")


def flow_chart() -> None:
    """A slide with a flow chart: two questions, three outcomes."""
    page, pen = sheet(800, 600, "#f3f6fb")
    text(pen, (400, 24), "Returning a parcel", Letters(32, BLUE, bold=True), anchor="ma")
    pen.ellipse((300, 84, 500, 144), fill="#d7ecd9", outline=INK, width=2)
    text(pen, (400, 114), "Parcel arrives", Letters(18), anchor="mm")
    for y, words in ((230, "Damaged?"), (390, "Opened?")):
        pen.polygon(
            [(400, y - 55), (510, y), (400, y + 55), (290, y)], fill="#fff3c4", outline=INK, width=2
        )
        text(pen, (400, y), words, Letters(18), anchor="mm")
    boxes = (
        ((600, 200, 770, 260), "Full refund", "#f6d0d0"),
        ((600, 360, 770, 420), "Store credit", "#d5e3f7"),
        ((315, 500, 485, 560), "Full refund", "#f6d0d0"),
    )
    for box, words, fill in boxes:
        pen.rectangle(box, fill=fill, outline=INK, width=2)
        text(pen, ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2), words, Letters(18), anchor="mm")
    arrow(pen, (400, 144), (400, 175))
    arrow(pen, (400, 285), (400, 335), "no")
    arrow(pen, (400, 445), (400, 500), "no")
    arrow(pen, (510, 230), (600, 230), "yes")
    arrow(pen, (510, 390), (600, 390), "yes")
    text(pen, (40, 568), "Training slide 3", Letters(16, GREY))
    save(page, "flow_chart.png")


def form() -> None:
    """A library card application, filled in, without a signature."""
    page, pen = sheet(700, 780)
    pen.rectangle((0, 0, 700, 90), fill="#6b2d5c")
    text(pen, (350, 45), "Library Card Application", Letters(30, "white", bold=True), anchor="mm")
    fields = (
        ("Full name", "Mira Olsen"),
        ("Date of birth", "07/09/1991"),
        ("E-mail", "mira@example.org"),
        ("Telephone", ""),
    )
    for index, (name, value) in enumerate(fields):
        top = 130 + 72 * index
        text(pen, (50, top + 12), f"{name}:", Letters(18, bold=True))
        pen.rectangle((220, top, 650, top + 46), outline=INK)
        pen.text((234, top + 10), value, fill="#1a3fb0", font=font(21, face="DejaVuSerif"))
    text(pen, (50, 440), "Card type:", Letters(18, bold=True))
    for x, name, ticked in ((220, "Adult", True), (370, "Child", False), (520, "Student", False)):
        pen.rectangle((x, 438, x + 24, 462), outline=INK, width=2)
        text(pen, (x + 34, 440), name, Letters(18))
        if ticked:
            pen.line((x + 3, 450, x + 10, 460), fill="#1a3fb0", width=4)
            pen.line((x + 10, 460, x + 28, 432), fill="#1a3fb0", width=4)
    text(pen, (50, 510), "Clause 4: The card holder pays for lost books.", Letters(16))
    text(pen, (50, 536), "Clause 5: The card ends on 31 December 2026.", Letters(16))
    pen.line((50, 660, 340, 660), fill=INK)
    pen.line((400, 660, 650, 660), fill=INK)
    text(pen, (50, 668), "Signature", Letters(15, GREY))
    text(pen, (400, 668), "Date", Letters(15, GREY))
    pen.text((410, 630), "3 June 2025", fill="#1a3fb0", font=font(21, face="DejaVuSerif"))
    text(pen, (350, 740), "For office use: desk 2", Letters(14, GREY), anchor="ma")
    save(page, "form.png")


if __name__ == "__main__":
    for make in (invoice, bar_chart, report, timetable, flow_chart, form):
        make()
