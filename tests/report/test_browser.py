"""The page in a real browser: it asks no server, sorts, filters, changes its theme, prints, and runs no name as code."""

import base64
import io
import re
import shutil
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from fairtrial import judge
from fairtrial.report.figures.curves import draw_cost
from fairtrial.report.figures.study_curves import find_cost_winners, with_winners
from fairtrial.report.report import write_page, write_report
from fairtrial.report.section import Figure, ReportTable, Section
from fairtrial.study.archive import ConditionFacts
from tests.report import pages
from tests.report.result_cases import NOISE, skilled_results
from tests.study.archives import CLEAN

api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: apt-get install chromium")

SORTED = ["-1.50", "0.33", "9.00", "10.00", "–"]  # noqa: RUF001  the hole is last either way


@pytest.fixture(scope="module")
def browser():
    with api.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return write_page(pages.sections(), tmp_path_factory.mktemp("page") / "page.html", f"Title {pages.SCRIPT}")


@pytest.fixture
def show(browser):
    """Open a file; at the end of the test nothing may have been complained about, nor asked of any server."""
    trouble, contexts = [], []

    def opened(path, **options):
        contexts.append(browser.new_context(accept_downloads=True, **options))
        page = contexts[-1].new_page()
        page.on("console", lambda message: trouble.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on(
            "request",
            lambda asked: trouble.append(asked.url) if not asked.url.startswith(("file:", "data:", "blob:")) else None,
        )
        page.goto(path.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert trouble == []


@pytest.fixture
def seen(browser):
    """What a picture shows: how many colours, and how bright the most common one is (0 to 255)."""
    blank = browser.new_page()
    yield lambda png: blank.evaluate(_LOOK, base64.b64encode(png).decode())
    blank.close()


_LOOK = """async (png) => {
  const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
  const canvas = new OffscreenCanvas(image.width, image.height), pen = canvas.getContext("2d");
  pen.drawImage(image, 0, 0);
  const counts = new Map();
  const bytes = pen.getImageData(0, 0, image.width, image.height).data.buffer;
  for (const pixel of new Uint32Array(bytes)) counts.set(pixel, (counts.get(pixel) || 0) + 1);
  const [most] = [...counts].sort(([, one], [, other]) => other - one)[0];
  return { colours: counts.size, brightness: ((most & 255) + ((most >> 8) & 255) + ((most >> 16) & 255)) / 3 };
}"""


def drawn(page):
    page.evaluate("fairtrialReady()")
    return page


def unfold(page):
    """Open all collapsed parts, except tables that are built when they are opened."""
    page.evaluate("document.querySelectorAll('details:not([data-later])').forEach((part) => { part.open = true; })")
    return page


def column(page, table="small", place=2):
    return page.locator(f"#grid-{table} tbody tr:not([hidden]) > :nth-child({place})").all_inner_texts()


def test_every_figure_is_drawn_and_none_is_empty(show, file, seen):
    page = drawn(show(file))
    assert page.locator("[data-drawn=yes] svg").count() == 3
    for picture in page.locator(".canvas svg").all():
        box = picture.bounding_box()
        assert box["width"] > 150
        assert box["height"] > 100
    assert seen(page.locator("#figure-curves-roc .canvas").screenshot())["colours"] > 30


def test_a_title_is_said_once(show, file):
    page = drawn(show(file))
    assert page.locator("#figure-curves-roc figcaption").inner_text().startswith(f"ROC {pages.IMAGE}")
    assert page.locator("#figure-curves-roc svg .role-title-text").count() == 0


def test_sorting_by_click_treats_numbers_as_numbers(show, file):
    page = unfold(show(file))
    button = page.locator("#grid-small th button").nth(1)
    button.click()
    assert column(page) == SORTED
    assert page.locator("#grid-small thead th").nth(1).get_attribute("aria-sort") == "ascending"
    button.click()
    assert column(page) == [*SORTED[:4][::-1], SORTED[4]]
    page.locator("#grid-small th button").first.click()
    assert page.locator("#grid-small thead th").nth(1).get_attribute("aria-sort") == "none"
    assert column(page, place=1)[-2:] == ["rule", "tree"]


def test_sorting_by_keyboard_with_a_visible_focus(show, file):
    page = show(file)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    unfold(page)
    page.locator("#grid-small th button").first.focus()
    page.keyboard.press("Tab")
    style = page.evaluate(
        "(({outlineStyle, outlineWidth}) => [outlineStyle, outlineWidth])(getComputedStyle(document.activeElement))"
    )
    assert style == ["solid", "3px"]
    page.keyboard.press("Enter")
    assert column(page) == SORTED


def test_everything_that_acts_can_be_reached_by_keyboard(show, file):
    page = unfold(show(file))
    wanted = page.evaluate(
        "[...document.querySelectorAll('button, input, summary, nav a')].filter((each) => each.checkVisibility()).length"
    )
    page.evaluate("() => { reached = new Set(); document.addEventListener('focusin', (event) => reached.add(event.target)); }")
    for _ in range(wanted + 25):
        page.keyboard.press("Tab")
    reached = page.evaluate("[...reached].filter((each) => each.matches('button, input, summary, nav a')).length")
    assert reached == wanted


def test_filtering_keeps_lines_with_all_words_and_counts_them(show, file):
    page = unfold(show(file))
    page.locator("[data-filter=grid-middle]").fill("SET 1")
    expected = [f"set {i}" for i in range(20) if "1" in f"set {i} {i / 7:.1f}"]
    assert 5 < len(expected) < 20
    assert column(page, "middle", 1) == expected
    assert page.locator("[data-count=grid-middle]").inner_text() == f"{len(expected)} of 20 rows"
    page.locator("[data-filter=grid-middle]").fill("")
    assert len(column(page, "middle", 1)) == 20


def test_very_long_tables_are_made_when_opened(show, file):
    page = unfold(show(file))
    assert page.locator("#grid-long tbody tr").count() == 0
    page.locator("#table-long summary").click()
    page.wait_for_selector("#grid-long tbody tr")
    assert page.locator("#grid-long tbody tr").count() == 1000
    page.locator("[data-filter=grid-long]").fill("77")
    left = sum("77" in f"set {i} {i / 7:.1f}" for i in range(1000))
    assert page.locator("[data-count=grid-long]").inner_text() == f"{left} of 1,000 rows"
    assert column(page, "long", 3)[0] == pages.IMAGE


def test_downloads_give_what_is_shown_at_full_precision(show, file):
    page = unfold(show(file))
    small = pd.read_csv(io.BytesIO(saved(page, "[data-csv=grid-small]", "small.csv")), keep_default_na=False)
    expected = pages.small_table().frame
    assert small["learner"].tolist() == expected["learner"].tolist()
    assert small["mean"].tolist() == ["9", "10", "-1.5", "", repr(1 / 3)]
    long = pd.read_csv(io.BytesIO(saved(page, "[data-csv=grid-long]", "long.csv")), dtype=str)
    assert [float(text) for text in long["mean"]] == pages.long_table().frame["mean"].tolist()
    cost = pd.read_csv(io.BytesIO(saved(page, "[data-figure-csv=curves-cost]", "curves-cost.csv")))
    assert set(cost["learner"]) == {"tree", pages.IMAGE}


def test_downloads_escape_formulas_but_not_numbers(show, file):
    page = unfold(show(file))
    saved(page, "[data-csv=grid-small]", "small.csv")
    page.evaluate("""() => ["=cmd()", "+a", "-1.5"].forEach((text, index) => {
        const cell = document.getElementById("grid-small").tBodies[0].rows[index].cells[0];
        cell.textContent = text;
        delete cell.dataset.v;
    })""")
    small = pd.read_csv(io.BytesIO(saved(page, "[data-csv=grid-small]", "small.csv")), dtype=str, keep_default_na=False)
    assert small["learner"].tolist()[:3] == ["'=cmd()", "'+a", "-1.5"]


def test_a_downloaded_picture_has_its_title_and_the_colours_of_paper(show, file):
    page = show(file, color_scheme="dark")
    picture = saved(page, "[data-image=curves-roc]", "curves-roc.svg").decode()
    words = [each.text for each in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]
    assert f"ROC {pages.IMAGE}" in words  # the figure's title, not that of its chart
    assert "var(" not in picture
    assert "#0072b2" in picture


def saved(page, button, name):
    with page.expect_download() as waiting:
        page.locator(button).click()
    assert waiting.value.suggested_filename == name
    return waiting.value.path().read_bytes()


def test_the_theme_follows_the_system_and_the_button(show, file, seen):
    page = drawn(show(file, color_scheme="dark"))
    assert seen(page.screenshot())["brightness"] < 40
    label = "getComputedStyle(document.querySelector('.canvas .role-axis-label text')).fill"
    line = "getComputedStyle(document.querySelector('#figure-curves-roc .mark-line path')).stroke"
    before = page.evaluate(label), page.evaluate(line)
    assert before[0] == "rgb(230, 237, 243)"
    page.locator("#theme").click()
    assert seen(page.screenshot())["brightness"] > 220
    after = page.evaluate(label), page.evaluate(line)
    assert after[0] == "rgb(31, 35, 40)"
    assert before[1] != after[1]
    page.wait_for_function("Object.values(localStorage).includes('light')")
    page.reload()
    page.wait_for_function("document.documentElement.dataset.theme === 'light'", timeout=10_000)


def test_a_tooltip_shows_names_as_text(show, file):
    page = drawn(show(file))
    page.locator("#figure-curves-roc").scroll_into_view_if_needed()
    for path in page.locator("#figure-curves-roc .mark-line path[d]").all():
        box = path.bounding_box()
        if box is None:
            continue
        for share in np.linspace(0, 1, 121):  # a line shows the values of points that are near
            page.mouse.move(box["x"] + share * box["width"], box["y"] + 1)
            if page.locator("#vg-tooltip-element.visible").count():
                assert "learner" in page.locator("#vg-tooltip-element").inner_text()
                assert page.locator("#vg-tooltip-element img").count() == 0
                return
    pytest.fail("no tooltip was shown")


def test_a_line_shows_values_wherever_the_pointer_is_on_it(show, judgement_page):
    page = drawn(show(judgement_page, viewport={"width": 1280, "height": 900}))
    figure = page.locator("[id^=figure-explorer-roc]").first
    figure.scroll_into_view_if_needed()
    line = figure.locator(".mark-line path[d]").last
    places = line.evaluate("""(path) => [0.13, 0.37, 0.52, 0.71, 0.94].map((share) => {
        const point = path.getPointAtLength(share * path.getTotalLength()).matrixTransform(path.getScreenCTM());
        return [point.x, point.y];
    })""")
    for x, y in places:
        page.mouse.move(x, y)
        assert page.locator("#vg-tooltip-element.visible").inner_text().startswith("model")
    page.mouse.move(5, 5)
    assert page.locator("#vg-tooltip-element.visible").count() == 0


def test_printing_keeps_collapsed_parts_collapsed_and_uses_the_colours_of_paper(show, file):
    page = drawn(show(file, color_scheme="dark"))
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.querySelector('.canvas text')).fill") == "rgb(0, 0, 0)"
    assert not page.locator("#grid-small").is_visible()
    assert not page.locator("nav").is_visible()
    assert page.locator("#question-curves h2").is_visible()
    unfold(page)
    assert page.locator("#grid-small tbody tr").last.is_visible()
    assert page.evaluate(
        "[...document.querySelectorAll('.scroll')].every((part) => part.scrollHeight <= part.clientHeight + 1)"
    )
    printed = page.pdf(outline=True, tagged=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) >= 2


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_hangs_over_the_edge_and_nothing_overlaps(show, file, width):
    page = drawn(unfold(show(file, viewport={"width": width, "height": 800})))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    boxes = [each.bounding_box() for each in page.locator("figure").all()]
    for i, one in enumerate(boxes):
        assert one["x"] >= 0
        assert one["x"] + one["width"] <= width
        for other in boxes[i + 1 :]:
            apart = (
                one["y"] + one["height"] <= other["y"] + 1
                or other["y"] + other["height"] <= one["y"] + 1
                or one["x"] + one["width"] <= other["x"] + 1
                or other["x"] + other["width"] <= one["x"] + 1
            )
            assert apart


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    return write_report(pages.hostile_results(), tmp_path_factory.mktemp("hostile") / "hostile.html")


def test_a_whole_report_of_hostile_names_runs_none_of_them(show, hostile):
    page = unfold(show(hostile, viewport={"width": 1000, "height": 800}))
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    drawn(page)
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 0
    assert page.locator("script:not([type])").count() == 4  # theme, library, page and explorer
    assert page.locator(".canvas:not([data-drawn]):visible").count() == 0
    assert page.get_by_text(pages.SCRIPT).count() > 5
    assert page.get_by_text(pages.IMAGE).count() > 5
    assert page.evaluate("document.documentElement.scrollWidth") <= 1000


@pytest.mark.parametrize("width", [390, 1280])
def test_long_names_do_not_make_the_page_scroll_sideways(show, tmp_path, width):
    names = {"x" * 300: 0.9, "word " * 60: 0.7, "short": 0.6}
    results = skilled_results(names, sets=3, names=["d" * 300, "e" * 300, "f" * 300], conditions=(CLEAN, NOISE))
    page = drawn(show(write_report(results, tmp_path / "long.html"), viewport={"width": width, "height": 800}))
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    drawn(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    firsts = "[...document.querySelectorAll('tbody th')].map((each) => each.getBoundingClientRect().width)"
    assert max(page.evaluate(firsts)) <= 0.5 * width


def test_a_wide_table_shows_that_it_goes_on_and_keeps_its_first_column(show, tmp_path):
    frame = pd.DataFrame({"data set": ["iris", "wine"], **{f"learner {i}": [0.5, 0.6] for i in range(30)}})
    wide = Section("wide", "Wide", tables=(ReportTable("wide", "Wide", frame),))
    page = unfold(show(write_page([wide], tmp_path / "wide.html", "Wide"), viewport={"width": 600, "height": 800}))
    place = "document.querySelector('#grid-wide tbody th').getBoundingClientRect().left"
    before = page.evaluate(place)
    page.locator(".scroll").focus()
    page.keyboard.press("End")
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    far = "document.querySelector('.scroll').scrollLeft > 100"
    for _ in range(50):  # scrolling is smooth; the page's policy forbids wait_for_function
        if page.evaluate(far):
            break
        page.wait_for_timeout(100)
    assert page.evaluate(far)
    assert page.evaluate(place) == pytest.approx(before, abs=1)
    assert "local, scroll" in page.evaluate("getComputedStyle(document.querySelector('.scroll')).backgroundAttachment")


def test_words_and_strips_of_cost_curves_follow_the_theme(show, tmp_path):
    curve = pd.DataFrame({"threshold": [1.0, 0.0], "probability_cost": [0.0, 1.0], "expected_cost": [0.2, 0.2]})
    chart = with_winners(draw_cost({"tree": curve}), find_cost_winners({"tree": curve}), {"tree": curve})
    section = Section("cost", "Cost", figures=(Figure("cost", "Cost", chart, "A curve"),))
    page = drawn(show(write_page([section], tmp_path / "cost.html", "Cost"), color_scheme="dark"))
    words = "getComputedStyle(document.querySelector('.canvas .mark-text.role-mark text')).fill"
    assert page.evaluate(words) == "rgb(164, 173, 184)"
    fills = page.evaluate("[...document.querySelectorAll('.mark-rect path')].map((each) => getComputedStyle(each).fill)")
    assert "rgb(75, 83, 93)" in fills


@pytest.fixture(scope="module")
def judgement_page(tmp_path_factory):
    """The page of a judgement of three models with probabilities and a subgroup."""
    rng = np.random.default_rng(4)
    y = (rng.random(400) < 0.3).astype(int)
    frame = pd.DataFrame({"y_true": np.where(y, "sick", "well"), "region": rng.choice(["north", "south"], 400)})
    for name, separation in {"strong": 2.0, "medium": 1.5, "weak": 0.5}.items():
        logit = separation * (separation * y + rng.standard_normal(400) - separation / 2) - 0.85
        frame[f"{name}_proba"] = 1 / (1 + np.exp(-logit))
    judgement = judge(frame, positive="sick", subgroup="region")
    return write_report(judgement, tmp_path_factory.mktemp("judgement") / "judgement.html")


@pytest.fixture(scope="module")
def study_page(tmp_path_factory):
    """The page of a study of four learners on eight data sets, with three noise levels."""
    noise = [ConditionFacts("class-noise", level, "", {"condition": "class-noise", "level": level}) for level in (0.1, 0.2)]
    skills = {"tree": 0.9, "bayes": 0.85, "neighbours": 0.75, "rule": 0.7}
    results = skilled_results(skills, sets=8, conditions=(CLEAN, *noise))
    return write_report(results, tmp_path_factory.mktemp("study") / "study.html")


@pytest.mark.parametrize(("kind", "pixels", "sheets"), [("judgement_page", 8000, 12), ("study_page", 12_000, 16)])
def test_a_report_is_short_on_screen_and_on_paper(show, request, kind, pixels, sheets):
    page = drawn(show(request.getfixturevalue(kind), viewport={"width": 1280, "height": 900}))
    assert page.evaluate("document.documentElement.scrollHeight") <= pixels
    printed = page.pdf(format="A4")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= sheets


@pytest.mark.parametrize("kind", ["judgement_page", "study_page"])
def test_the_first_screen_has_the_answer_and_its_figure(show, request, kind):
    page = show(request.getfixturevalue(kind), viewport={"width": 1280, "height": 900})
    figures = page.locator(".answer figure:visible").all()
    assert figures
    for part in [page.locator("h1"), *figures]:
        box = part.bounding_box()
        assert box["y"] + box["height"] <= 900
    assert page.locator(".answer > p").count() <= 2


@pytest.mark.parametrize("kind", ["judgement_page", "study_page"])
def test_without_scripts_the_default_view_is_complete(browser, request, kind):
    context = browser.new_context(java_script_enabled=False, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(request.getfixturevalue(kind).as_uri())
    figures = page.locator(".canvas:visible").all()
    assert len(figures) >= 5
    assert all(figure.locator("svg").count() == 1 for figure in figures)
    assert not page.locator(".selectors").is_visible()
    page.locator("summary").first.click()
    assert page.locator("details[open] table").first.is_visible()
    context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["judgement_page", "study_page"])
def test_axe_reports_no_serious_violation(show, request, kind, theme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install axe-playwright-python")
    page = drawn(unfold(show(request.getfixturevalue(kind), color_scheme=theme, bypass_csp=True)))
    drawn(page)
    found = axe.Axe().run(page).response["violations"]
    assert [(rule["id"], rule["nodes"][0]["html"][:200]) for rule in found if rule["impact"] in ("serious", "critical")] == []


def test_a_selector_changes_every_section_and_the_url(show, study_page):
    page = show(study_page, viewport={"width": 1280, "height": 900})
    selector = page.locator("[data-selector=condition]").first
    values = selector.locator("option").all_inner_texts()
    assert len(values) == 3
    visible = (
        "[...document.querySelectorAll('[data-when]:not([hidden])')].map((part) => JSON.parse(part.dataset.when).condition)"
    )
    selector.select_option(values[2])
    assert set(page.evaluate(visible)) - {None} == {values[2]}
    assert page.url.endswith(f"#condition={values[2].replace(' ', '%20')}")
    page.reload()
    assert page.locator("[data-selector=condition]").first.input_value() == values[2]
    assert set(page.evaluate(visible)) - {None} == {values[2]}


def test_the_noise_slider_and_the_selector_agree(show, study_page):
    page = show(study_page, viewport={"width": 1280, "height": 900})
    slider, selector = (
        page.locator("input[type=range][data-selector=condition]"),
        page.locator("select[data-selector=condition]"),
    )
    slider.fill("2")
    assert "0.2" in selector.input_value()
    selector.select_option("clean")
    assert slider.input_value() == "0"


@pytest.mark.parametrize("kind", ["judgement_page", "study_page"])
def test_highlighting_a_learner_makes_the_others_pale(show, request, kind):
    page = drawn(show(request.getfixturevalue(kind), viewport={"width": 1280, "height": 900}))
    chip = page.locator(".chip").first
    name = chip.inner_text()
    chip.click()
    assert chip.get_attribute("aria-pressed") == "true"
    opacities = page.evaluate(
        """(name) => {
            const marks = [...document.querySelectorAll(".canvas svg *")].filter((mark) => mark.__data__?.datum);
            const learner = (mark) => mark.__data__.datum.learner ?? mark.__data__.datum.model;
            const known = marks.filter((mark) => learner(mark) !== undefined && mark.__data__.mark.role === "mark");
            const pale = (mark) => mark.style.opacity !== "";
            return [known.filter((mark) => learner(mark) === name && pale(mark)).length,
                    known.filter((mark) => learner(mark) !== name && pale(mark)).length];
        }""",
        name,
    )
    assert opacities[0] == 0
    assert opacities[1] > 10
    assert f"learner={name}" in page.url
    chip.click()
    assert "#" not in page.url


def test_of_many_learners_the_best_20_can_be_highlighted_at_once_and_differ_in_colour(show, tmp_path):
    skills = {f"learner {i:02}": 0.55 + 0.015 * i for i in range(24)}
    results = skilled_results(skills, sets=3)
    page = show(write_report(results, tmp_path / "many.html"), viewport={"width": 1280, "height": 900})
    chips = page.locator(".chip:visible")
    assert chips.count() == 20
    assert len(set(chips.evaluate_all("(chips) => chips.map((chip) => chip.style.getPropertyValue('--c'))"))) == 20
    page.locator(".chips summary").click()
    assert set(page.locator(".chip:visible").all_inner_texts()) == set(skills)
    ranks = results.wide().rank(axis=1, ascending=False).mean().sort_values(kind="stable")
    hidden = set(page.locator(".chips details .chip").all_inner_texts())
    assert hidden == set(ranks.index[20:])


@pytest.mark.parametrize("kind", ["judgement_page", "study_page"])
def test_reports_fit_a_phone_without_overlapping_text(show, request, kind):
    page = drawn(show(request.getfixturevalue(kind), viewport={"width": 390, "height": 844}))
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    overlaps = page.evaluate(
        """() => [...document.querySelectorAll(".canvas svg")].flatMap((svg) => {
            const isVisible = (text) => text.textContent.trim() && text.checkVisibility({ checkOpacity: true });
            const texts = [...svg.querySelectorAll("text")].filter(isVisible);
            const boxes = texts.map((text) => text.getBoundingClientRect());
            const cut = (one, other) => Math.min(one.right, other.right) - Math.max(one.left, other.left) > 3
                && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 4;
            return boxes.flatMap((box, i) => boxes.slice(i + 1).flatMap((other, j) => cut(box, other)
                ? [`${texts[i].textContent} | ${texts[i + 1 + j].textContent}`] : []));
        })"""
    )
    assert overlaps == []


@pytest.mark.parametrize("kind", ["judgement_page", "study_page"])
def test_links_open_the_part_they_name(show, request, kind):
    page = show(request.getfixturevalue(kind), viewport={"width": 1280, "height": 900})
    target = page.locator("details.more[id]").last
    key = target.get_attribute("id")
    assert target.get_attribute("open") is None
    page.goto(f"{page.url.split('#')[0]}#{key}")
    page.reload()
    assert target.get_attribute("open") is not None


def test_invalid_addresses_give_the_default_view(show, judgement_page):
    page = show(judgement_page, viewport={"width": 1280, "height": 900})
    default = page.locator("[data-selector=measure]").first.input_value()
    for address in ("#learner=nobody", "#measure=%zz", "#%", "#measure=nonsense&learner=nobody", "#nowhere"):
        page.goto(f"{judgement_page.as_uri()}{address}")
        page.reload()
        drawn(page)
        assert page.locator("[data-selector=measure]").first.input_value() == default
        assert page.locator("[style*='opacity']").count() == 0
        assert "#" not in page.url


def test_back_undoes_a_selection_and_links_keep_it(show, judgement_page):
    page = show(judgement_page, viewport={"width": 1280, "height": 900})
    selector = page.locator("[data-selector=measure]").first
    before = selector.input_value()
    selector.select_option(index=2)
    after = selector.input_value()
    page.locator("nav a").last.click()
    assert page.url.endswith("&question-how")
    page.wait_for_timeout(900)
    assert page.locator("nav a").last.get_attribute("aria-current") == "true"
    page.go_back()
    assert selector.input_value() == after
    page.go_back()
    assert selector.input_value() == before != after
