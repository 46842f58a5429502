"use strict";
(() => {
const root = document.documentElement;
const read = (id) => JSON.parse(document.getElementById(id).textContent);
const charts = read("charts"), frames = read("frames");
function chartOf(key) {
  const { datasets, ...rest } = charts[key];
  return { ...rest, datasets: Object.fromEntries(Object.entries(datasets).map(([name, rows]) => [name, Array.isArray(rows) ? rows : unpacked(rows)])) };
}
function unpacked({ rows, columns }) {
  const names = Object.keys(columns), found = Object.values(columns).map((each) => (Array.isArray(each) ? each : each.codes.map((code) => each.texts[code])));
  return Array.from({ length: rows }, (_, row) => Object.fromEntries(names.map((name, place) => [name, found[place][row]])));
}
const pause = () => new Promise((go) => setTimeout(go));

/* Figures. The colours of a chart become variables of the style sheet, so it need not be redrawn for another theme or for printing. */

const INKS = {
  "#000000": "--black", "black": "--black", "#2b2b2b": "--ink", "#6b6b6b": "--soft", "#9a9a9a": "--soft", "white": "--paper", "#ffffff": "--paper",
  "#0072b2": "--blue", "#d55e00": "--vermilion", "#009e73": "--green", "#cc79a7": "--pink", "#e69f00": "--orange", "#56b4e9": "--sky", "#f0e442": "--yellow", "#d9d9d9": "--pale",
  "#9ecae1": "--gain-2", "#edf8fb": "--gain-1", "#fff7ec": "--loss-0", "#fee8c8": "--loss-1", "#fdd9a8": "--loss-2", "#fdcb96": "--loss-3",
  "#fdbb84": "--loss-4", "#fca972": "--loss-5", "#fb9766": "--loss-6", "#f5855c": "--loss-7", "#ea6c52": "--loss-8", "#d9534a": "--loss-9",
};
const COLOURED = /^(color|fill|stroke)$|Color$/;
const OWN = new Set(["datasets", "data", "domain", "config", "field", "tooltip"]);  // names and numbers, never colours

function inked(part, coloured = false) {
  if (typeof part === "string") return coloured && INKS[part.toLowerCase()] ? `var(${INKS[part.toLowerCase()]})` : part;
  if (Array.isArray(part)) return part.map((each) => inked(each, coloured));
  if (!part || typeof part !== "object") return part;
  if (coloured && part.type === "quantitative") return part;  // a scale interpolates its colours, which is impossible with variables
  const onTiles = Array.isArray(part.layer) && part.layer.some(isTiled);
  return Object.fromEntries(Object.entries(part).map(([key, value]) => {
    if (OWN.has(key)) return [key, value];
    if (key === "layer" && onTiles) return [key, value.map((each) => (isText(each) ? onPaper(each) : inked(each)))];
    return [key, inked(value, COLOURED.test(key) || (coloured && /^(scale|range|value|condition)$/.test(key)))];
  }));
}
const kindOf = (layer) => (layer.mark && layer.mark.type) || layer.mark;
const isText = (layer) => kindOf(layer) === "text";
// Text on a coloured background (except a strip at the edge): the background stays as light as on paper, so the text stays dark.
function isTiled({ mark, encoding = {} }) {
  const shade = encoding.color || encoding.fill || {}, kind = (mark && mark.type) || mark;
  if (kind === "area" && mark.color) return !INKS[mark.color.toLowerCase()];
  return shade.field && ((kind === "rect" && encoding.y && encoding.y.field) || (kind === "area" && shade.type === "quantitative"));
}
const onPaper = (layer) => ({ ...layer, mark: { color: "#000000", ...(typeof layer.mark === "string" ? { type: layer.mark } : layer.mark) } });

const words = { labelColor: "var(--ink)", titleColor: "var(--ink)" };
const look = {
  background: "transparent", padding: 4,
  axis: { ...words, domainColor: "var(--soft)", tickColor: "var(--soft)", gridColor: "var(--grid)" },
  legend: words, header: words, title: { color: "var(--ink)", subtitleColor: "var(--soft)", fontSize: 14 },
  text: { color: "var(--ink)" }, rule: { color: "var(--soft)" }, view: { stroke: "var(--line)" },
};
function merged(ours, theirs) {
  const out = { ...ours };
  for (const [key, value] of Object.entries(theirs)) {
    out[key] = value && typeof value === "object" && !Array.isArray(value) ? merged(ours[key] || {}, value) : value;
  }
  return out;
}

const plain = { actions: false, renderer: "svg", ast: true, defaultStyle: false, tooltip: { disableDefaultStyle: true } };
async function draw(canvas) {
  const spec = inked(chartOf(canvas.dataset.chart));
  delete spec.title;  // the caption contains the title
  spec.config = merged(spec.config || {}, look);
  await vegaEmbed(canvas, spec, plain);
  const svg = canvas.querySelector("svg");
  svg.setAttribute("aria-hidden", "true");
  svg.style.minWidth = `${Math.round(0.72 * Number(svg.getAttribute("width")))}px`;  // in a smaller figure, the text would be illegible
  canvas.style.minHeight = "";
  canvas.style.minWidth = "";
  canvas.dataset.drawn = "yes";
  if (canvas.scrollWidth > canvas.clientWidth) canvas.tabIndex = 0;
}

let turn = Promise.resolve();
function drawSoon(canvas) {
  if (canvas.dataset.asked) return;
  canvas.dataset.asked = "yes";
  turn = turn.then(pause).then(() => draw(canvas)).catch((error) => {
    canvas.textContent = `This figure cannot be drawn: ${error.message}`;
    console.error(error);
  });
}
const canvases = [...document.querySelectorAll("[data-chart]")];
const near = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) { drawSoon(entry.target); near.unobserve(entry.target); }
}, { rootMargin: "600px" });
canvases.forEach((canvas) => near.observe(canvas));
function drawAll() {
  canvases.forEach(drawSoon);
  return turn;
}
window.fairtrialReady = drawAll;  // code that prints the page must await it first
window.addEventListener("load", () => setTimeout(drawAll, 1500));

/* Theme */

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
const themeButton = document.getElementById("theme");
function tellTheme() {
  themeButton.textContent = isDark() ? "Light" : "Dark";
  themeButton.setAttribute("aria-label", `${themeButton.textContent}: switch the colour theme`);
}
themeButton.addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  try { localStorage.setItem("fairtrial-theme", root.dataset.theme); } catch (error) { /* a file may have no storage */ }
  tellTheme();
});
dark.addEventListener("change", tellTheme);
tellTheme();

/* Tables */

function build(id) {
  const source = document.getElementById(`lines-${id}`);
  if (!source) return;
  const { rows, columns, best } = JSON.parse(source.textContent);
  const marked = new Set(best.map(([row, place]) => row * columns.length + place));
  const body = document.createDocumentFragment();
  for (let row = 0; row < rows; row += 1) {
    const line = document.createElement("tr");
    columns.forEach(({ texts, codes, values }, place) => {
      const cell = document.createElement(place ? "td" : "th");
      if (!place) cell.scope = "row";
      cell.textContent = texts[codes[row]];
      cell.className = cell.textContent.length <= 24 ? "short" : "";
      if (values && values[row] !== null) {
        cell.className = marked.has(row * columns.length + place) ? "number best" : "number";
        cell.dataset.v = values[row];
      }
      line.append(cell);
    });
    body.append(line);
  }
  document.getElementById(id).tBodies[0].append(body);
  source.remove();
}
document.querySelectorAll("[data-later]").forEach((details) => details.addEventListener("toggle", () => build(details.dataset.later)));

// Numbers come before text, and missing values come last, in both sort directions.
function keyOf(cell) {
  const value = cell.dataset.v;
  if (value === undefined) return { rank: 1, text: cell.textContent };
  return value === "" ? { rank: 2, number: 0 } : { rank: 0, number: Number(value) };
}
function compared(one, other, sign) {
  if (one.rank !== other.rank) return one.rank - other.rank;
  if (one.rank === 1) return sign * one.text.localeCompare(other.text, undefined, { numeric: true });
  return sign * (one.number === other.number ? 0 : one.number < other.number ? -1 : 1);
}
document.querySelectorAll("button.sort").forEach((button) => button.addEventListener("click", () => {
  const head = button.closest("th"), body = button.closest("table").tBodies[0];
  const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  const lines = [...body.rows].map((row) => [keyOf(row.cells[head.cellIndex]), row]);
  lines.sort(([one], [other]) => compared(one, other, sign));
  for (const each of head.parentNode.cells) each.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
  body.append(...lines.map(([, row]) => row));
}));

document.querySelectorAll("[data-filter]").forEach((input) => input.addEventListener("input", () => {
  const id = input.dataset.filter, table = document.getElementById(id), details = table.closest("details");
  const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  build(id);
  if (details && wanted.length) details.open = true;
  let left = 0;
  for (const row of table.tBodies[0].rows) {
    const text = [...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase();
    row.hidden = !wanted.every((word) => text.includes(word));
    left += !row.hidden;
  }
  const count = document.querySelector(`[data-count="${id}"]`);
  count.textContent = wanted.length ? `${left.toLocaleString("en")} of ${table.tBodies[0].rows.length.toLocaleString("en")} rows` : "";
}));

/* Downloads */

const formula = /^[=+\-@\t\r]/, plainNumber = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
function quoted(value) {
  const content = value === null || value === undefined ? "" : String(value);
  const text = formula.test(content) && !plainNumber.test(content) ? `'${content}` : content;  // spreadsheets run formulas
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
const csvOf = (lines) => lines.map((line) => line.map(quoted).join(",")).join("\n") + "\n";
function save(name, type, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
function tableLines(table) {
  const heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
  const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden);
  return [heads, ...rows.map((row) => [...row.cells].map((cell) => cell.dataset.v ?? cell.textContent))];
}
function chartLines(chart) {
  const sets = Object.values(chart.datasets || {}).sort((one, other) => other.length - one.length);
  const names = [...new Set((sets[0] || []).flatMap((row) => Object.keys(row)))];
  return [names, ...(sets[0] || []).map((row) => names.map((name) => row[name]))];
}
function onClick(attribute, act) {
  document.querySelectorAll(`[data-${attribute}]`).forEach((button) => button.addEventListener("click", () => act(button.getAttribute(`data-${attribute}`), button)));
}
onClick("csv", (id, button) => {
  build(id);
  save(`${button.dataset.name}.csv`, "text/csv", csvOf(tableLines(document.getElementById(id))));
});
onClick("figure-csv", (key) => save(`${key}.csv`, "text/csv", frames[key] ?? csvOf(chartLines(chartOf(key)))));
onClick("image", async (key) => {
  const { view } = await vegaEmbed(document.createElement("div"), chartOf(key), plain);  // as on paper, with its own title
  save(`${key}.svg`, "image/svg+xml", await view.toSVG());
  view.finalize();
});

/* Printing: collapsed tables are opened, except those that are too long for paper. */

let opened = [];
window.addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open]):not([data-later])")];
  opened.forEach((each) => { each.open = true; });
});
window.addEventListener("afterprint", () => opened.forEach((each) => { each.open = false; }));

/* Current section in the navigation */

const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
const here = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) {
    links.forEach((link) => link.removeAttribute("aria-current"));
    links.get(entry.target.id)?.setAttribute("aria-current", "true");
  }
}, { rootMargin: "-10% 0px -80% 0px" });
document.querySelectorAll("main > section").forEach((section) => here.observe(section));
})();
