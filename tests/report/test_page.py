"""Sections become a page: escaped, whole, in order, with colours that can be read."""

import base64
import hashlib
import json
import re
import zlib
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise

import pandas as pd
import pytest

from fairtrial import judge
from fairtrial.errors import InputError
from fairtrial.report.charts import COLOURS
from fairtrial.report.figures import robustness
from fairtrial.report.figures.base import PALE
from fairtrial.report.page import render
from fairtrial.report.report import build_sections
from fairtrial.report.section import Figure, Section, Sentence
from tests.report import pages
from tests.report.report_numbers import list_figures, list_tables

STYLE = files("fairtrial.report").joinpath("templates", "style.css").read_text(encoding="utf-8")


class Reader(HTMLParser):
    """Elements in order, with attributes, and the text of some."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.scripts, self.texts = [], [], {}
        self._open = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data):
        if self._open and self._open[-1] == "script":
            self.scripts[-1] += data
        elif self._open:
            self.texts.setdefault(self._open[-1], []).append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def text():
    return render(pages.sections(), f"Title {pages.SCRIPT}", subtitle=pages.IMAGE, written_on="2020-02-02")


@pytest.fixture(scope="module")
def read(text):
    return Reader(text)


def test_names_from_outside_stay_text(read):
    assert not read.all("img")
    scripts = [script for script, attributes in zip(read.scripts, read.all("script"), strict=True) if not attributes]
    assert len(scripts) == 2
    assert not any("hacked" in script for script in scripts)
    assert pages.SCRIPT in read.texts["th"]
    assert f"{pages.SCRIPT} is ahead on {pages.IMAGE}." in read.texts["h1"]
    assert any(pages.IMAGE in attributes.get("aria-label", "") for attributes in read.all("div"))
    assert not [name for _, attributes in read.elements for name in attributes if name.startswith("on")]


def test_data_cannot_end_its_script_and_comes_back_as_it_was(read):
    data = {each["id"]: script for script, each in zip(read.scripts, read.all("script"), strict=True) if each}
    assert set(data) == {"data", "charts", "vega", "lines-grid-long"}
    charts = unpack(data["charts"])["charts"]
    assert set(charts) == {"curves-roc", "curves-cost", "ranks-box"}
    assert pages.IMAGE in json.dumps(charts, ensure_ascii=False).replace('\\"', '"')
    assert unpack(data["lines-grid-long"])["rows"] == 1000


def unpack(text):
    """Read the charts of a page, which are compressed."""
    return json.loads(zlib.decompress(base64.b64decode(text)))


def test_only_the_page_s_own_scripts_may_run_and_nothing_may_be_loaded(read):
    policy = next(each["content"] for each in read.all("meta") if each.get("http-equiv") == "Content-Security-Policy")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    scripts = [script for script, attributes in zip(read.scripts, read.all("script"), strict=True) if not attributes]
    compressed = next(script for script, each in zip(read.scripts, read.all("script"), strict=True) if each.get("id") == "vega")
    scripts.insert(1, zlib.decompress(base64.b64decode(compressed)).decode())
    hashes = [f"'sha256-{base64.b64encode(hashlib.sha256(each.encode()).digest()).decode()}'" for each in scripts]
    assert rules["script-src"].split() == hashes
    assert rules["default-src"] == "'none'"
    for tag, name in (("script", "src"), ("img", "src"), ("iframe", "src")):
        assert not any(name in attributes for attributes in read.all(tag))
    assert [each["href"] for each in read.all("link")] == ["data:,"]
    assert all(each["href"].startswith("#") for each in read.all("a"))


def test_headings_come_in_order_with_one_title(read):
    levels = [int(tag[1]) for tag, _ in read.elements if re.fullmatch("h[1-6]", tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_tables_and_figures_can_be_read_without_seeing(read):
    heads = read.all("th")
    assert heads
    assert all(each.get("scope") in ("col", "row") for each in heads)
    assert all(each.get("aria-label") for each in read.all("div") if "data-chart" in each)
    ids = [attributes["id"] for _, attributes in read.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    known = set(ids)
    for _, attributes in read.elements:
        for name in ("aria-labelledby", "data-filter", "data-csv", "data-later"):
            assert attributes.get(name, "main") in known
    assert read.all("html")[0]["lang"] == "en"
    scrolled = [each for each in read.all("div") if each.get("class", "").startswith("scroll")]
    assert len(scrolled) == 3
    assert all((each["tabindex"], each["role"]) == ("0", "region") for each in scrolled)


def test_numbers_are_shown_short_and_kept_whole(read):
    values = [each["data-v"] for each in read.all("td") if "data-v" in each]
    assert repr(1 / 3) in values
    assert "0.33" in read.texts["td"]
    assert "0.3333333333333333" not in read.texts["td"]


def test_the_title_of_a_chart_is_said_once_and_its_explanation_is_text(read):
    explained = [each for each in read.all("span") if each.get("class") == "explained"]
    assert len(explained) == len([1 for figure in list_figures(pages.sections()) for _ in _subtitle(figure.chart)])


def _subtitle(chart):
    title = chart.to_dict().get("title")
    below = title.get("subtitle", []) if isinstance(title, dict) else []
    return [below] if isinstance(below, str) else below


def test_the_navigation_links_to_every_question_in_reading_order(read):
    links = [each["href"] for each in read.all("a") if each.get("class") is None]
    assert links == ["#question-size", "#question-curves", "#question-how"]
    ids = [each["id"] for each in read.all("section") if each.get("class") == "question"]
    assert [f"#{key}" for key in ids] == links


def test_a_question_shows_the_finding_and_the_lead_figure_and_collapses_the_rest():
    figures = tuple(replace(figure, lead=figure.key == "curves-cost") for figure in pages.curves())
    first = Section("a", "A", (Sentence("A found this."), Sentence("By this method.")), figures, question="better")
    second = Section("b", "B", (Sentence("B found that."),), tables=(pages.small_table(),), question="better")
    visible, hidden = _split_at_details(render([first, second], "Title"))
    assert "A found this." in visible
    assert 'id="figure-curves-cost"' in visible
    assert "<svg" in visible.split('id="figure-curves-cost"')[1]
    assert "By this method." in hidden
    assert 'id="figure-curves-roc"' in hidden
    assert 'id="grid-small"' in hidden
    assert "<svg" not in hidden
    assert re.search(r"<summary>B<span[^>]*>B found that.</span></summary>", hidden)


def _split_at_details(page):
    """Split the body of a page into the text outside and the text inside of collapsed elements."""
    body = page[page.index("<main") : page.index("<footer")]
    hidden = re.findall(r"<details.*?</details>", body, flags=re.DOTALL)
    return re.sub(r"<details.*?</details>", "", body, flags=re.DOTALL), "".join(hidden)


def test_selectors_show_one_alternative_and_the_default_view_needs_no_script():
    roc, cost, ranks = pages.curves()
    figures = (replace(roc, when={"measure": "AUC"}), replace(cost, when={"measure": "cost"}), ranks)
    section = Section("a", "A", (Sentence("Found."),), figures, question="size")
    page = render([section], "Title", selected={"measure": "cost"})
    reader = Reader(page)
    alternatives = {each["id"]: "hidden" in each for each in reader.all("figure") if "data-when" in each}
    assert alternatives == {"figure-curves-roc": True, "figure-curves-cost": False}
    assert "<svg" in page.split('id="figure-curves-cost"')[1].split("</figure>")[0]
    assert "<svg" not in page.split('id="figure-curves-roc"')[1].split("</figure>")[0]
    assert [each.get("data-selector") for each in reader.all("select")] == ["measure"]
    assert [("selected" in each) for each in reader.all("option")] == [False, True]
    assert len(Reader(render([section], "Title", selected={"measure": "unknown"})).all("select")) == 1


def test_the_data_of_a_figure_are_its_frame():
    frame = pd.DataFrame({"learner": ["tree", "bayes"], "mean rank": [1.25, 1.75], "first": [True, False]})
    chart = robustness.draw_levels(
        pd.DataFrame({"level": [0, 0.2], "learner": "tree", "mean": [0.9, 0.8], "low": [0.8, 0.7], "high": [1, 0.9]})
    )
    figure = Figure("ranks", "Ranks", chart, "Ranks.", frame)
    page = render([Section("s", "S", (Sentence("a."),), (figure,))], "page")
    packed = re.search(r'<script type="text/plain" id="charts">([^<]*)</script>', page)[1]
    frames = json.loads(zlib.decompress(base64.b64decode(packed)))["frames"]
    columns = frames["ranks"]["columns"]
    assert columns["mean rank"] == [1.25, 1.75]
    assert [columns["learner"]["texts"][code] for code in columns["learner"]["codes"]] == ["tree", "bayes"]
    assert [columns["first"]["texts"][code] for code in columns["first"]["codes"]] == ["yes", "no"]


def test_findings_follow_the_selectors():
    sentences = [Sentence(f"{name} is best.", when={"measure": name}) for name in ("AUC", "cost")] + [
        Sentence("By this method.")
    ]
    section = Section("a", "A", tuple(sentences), pages.curves()[:1], question="size")
    reader = Reader(
        render([section, replace(section, key="b", figures=(), question="size")], "Title", selected={"measure": "cost"})
    )
    for tag, name in (("p", "finding"), ("span", "finding-line")):
        findings = [each for each in reader.all(tag) if each.get("class") == name]
        assert [(json.loads(each["data-when"]), "hidden" in each) for each in findings] == [
            ({"measure": "AUC"}, True),
            ({"measure": "cost"}, False),
        ]


def test_drawings_have_unique_ids_and_follow_the_theme():
    section = Section("a", "A", figures=tuple(replace(figure, lead=True) for figure in pages.curves()))
    page = render([section], "Title")
    drawings = re.findall(r"<svg.*?</svg>", page[: page.index("<footer")], flags=re.DOTALL)
    assert len(drawings) == 3
    ids = re.findall(r'\bid="([^"]+)"', "".join(drawings))
    assert len(ids) == len(set(ids))
    assert set(re.findall(r"url\(#([^)]+)\)", "".join(drawings))) <= set(ids)
    assert all("var(--" in drawing for drawing in drawings)
    colours = {"--blue", "--vermilion"}
    assert colours <= set(re.findall(r"var\((--\w+)\)", drawings[0]))


def test_a_page_without_figures_carries_no_drawing_library(text):
    short = render([Section("answer", "The answer")], "Small")
    assert len(short) < 60_000 < len(text)


def test_figures_and_tables_of_parts_are_found_in_order():
    assert [each.key for each in list_tables(pages.sections())] == ["small", "middle", "long"]
    assert [each.key for each in list_figures(pages.sections())] == ["curves-roc", "curves-cost", "ranks-box"]


def test_a_key_twice_is_refused():
    with pytest.raises(InputError, match=r"table.*'small'"):
        render([Section("a", "", tables=(pages.small_table(),)), Section("b", "", tables=(pages.small_table(),))], "")
    with pytest.raises(InputError, match="section"):
        render([Section("a", "", subsections=(Section("a", ""),))], "")


def variables(block):
    return dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6})", block))


def luminance(colour):
    """Relative luminance as WCAG 2.2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def themes():
    blocks = re.findall(r"(:root[^{]*)\{([^{}]*)\}", STYLE)
    return [variables(block) for _, block in blocks if "--paper" in block]


def test_contrast_of_black_and_white_is_the_greatest():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)  # WebAIM's checker


def test_words_stand_out_in_every_theme():
    found = themes()
    assert len(found) == 4  # light, dark by the system, dark by choice, print
    assert found[1] == found[2]
    for theme in found:
        for words in ("--ink", "--soft", "--link", "--best"):
            for ground in ("--paper", "--shade", "--panel"):
                assert contrast(theme[words], theme[ground]) >= 4.5, (words, ground)
        assert contrast(theme["--ink"], theme["--mark"]) >= 4.5
        assert contrast(theme["--warn"], theme["--warn-paper"]) >= 4.5
        assert contrast(theme["--link"], theme["--paper"]) >= 3  # the ring of the focus


def test_lines_of_figures_stand_out():
    """Three to one, as WCAG 1.4.11 asks, of the colours that come first; the palette itself is for the colour-blind."""
    for theme in themes():
        for line in ("--black", "--blue", "--vermilion", "--green"):
            assert contrast(theme[line], theme["--paper"]) >= 3, line


def test_words_on_a_surface_of_losses_stand_out():
    """The shades lie on the page at three quarters, and a dark page has its own for each that the figure has."""
    shades = [COLOURS[shade.lower()] for shade in robustness._SHADES]
    assert len(set(shades)) == len(robustness._SHADES)
    for theme in themes():
        for shade in shades:
            assert contrast(theme["--ink"], mixed(theme[shade], theme["--paper"], 0.75)) >= 4.5, shade
    assert [themes()[0][shade] for shade in shades] == [shade.lower() for shade in robustness._SHADES]


def mixed(one, other, share):
    parts = [share * int(one[i : i + 2], 16) + (1 - share) * int(other[i : i + 2], 16) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(part):02x}" for part in parts)


def test_a_ground_without_words_is_dark_on_a_dark_page():
    light, dark, *_ = themes()
    assert light["--pale"] == PALE.lower()
    assert contrast(dark["--pale"], dark["--paper"]) < 3 < contrast(dark["--pale"], "#ffffff")


def test_a_chart_carries_the_title_of_its_figure(read):
    place = next(i for i, each in enumerate(read.all("script")) if each.get("id") == "charts")
    titles = unpack(read.scripts[place])["titles"]
    assert {key: title["text"] for key, title in titles.items()} == {
        figure.key: figure.title for figure in list_figures(pages.sections())
    }


def test_motion_is_left_out_for_who_asks():
    assert re.search(r"prefers-reduced-motion: reduce\) \{ html \{ scroll-behavior: auto", STYLE)


def test_counts_have_no_decimals_next_to_fractions():
    """The table of a judgement's size holds counts and alpha in one column."""
    y_true = ["yes", "no"] * 20
    judgement = judge(
        pd.DataFrame({"y_true": y_true, "good": y_true[:36] + ["no"] * 4, "coin": ["yes", "yes", "no", "no"] * 10})
    )
    page = render(build_sections(judgement), "Sizes", written_on="2026-01-01")
    start = page.index("Size of the judgement")
    assert re.findall(r">\s*([\d.,]+)\s*<", page[start : start + 3000])[:3] == ["1", "2", "40"]
