"use strict";
(() => {
const root = document.documentElement;
const { selected, colours } = JSON.parse(document.getElementById("data").textContent);
const state = { ...selected };  // the value of each selector, and other settings such as the threshold

/* Charts. The page contains drawings of the figures that are visible first; charts that react to the mouse replace them. */

const charts = {}, titles = {}, frames = {}, configs = [];
async function inflate(id) {  // large texts of the page are compressed
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
}
async function loadCharts() {
  const loaded = JSON.parse(await inflate("charts"));
  Object.assign(charts, loaded.charts);
  Object.assign(titles, loaded.titles);
  Object.assign(frames, loaded.frames);
  configs.push(...loaded.configs);
  const script = document.createElement("script");  // the content security policy contains its hash
  script.textContent = await inflate("vega");
  document.head.append(script);
}
const library = document.getElementById("charts") ? loadCharts() : Promise.resolve();
function unpack({ rows, columns }) {
  const names = Object.keys(columns);
  const values = Object.values(columns).map((column) => (Array.isArray(column) ? column : column.codes.map((code) => column.texts[code])));
  return Array.from({ length: rows }, (_, row) => Object.fromEntries(names.map((name, index) => [name, values[index][row]])));
}
function readChart(key) {
  const { datasets, config, ...rest } = charts[key];
  const unpacked = Object.entries(datasets).map(([name, rows]) => [name, Array.isArray(rows) ? rows : unpack(rows)]);
  return { ...rest, config: configs[config], datasets: Object.fromEntries(unpacked) };
}
const options = { actions: false, renderer: "svg", ast: true, defaultStyle: false, logLevel: 1, tooltip: { disableDefaultStyle: true } };
const { warn } = console;
function embed(box, chart) {
  console.warn = (...texts) => { if (!String(texts[0]).includes("WARN")) warn(...texts); };  // Vega-Lite warns of sizes that it corrects
  return vegaEmbed(box, chart, options).finally(() => { console.warn = warn; });
}
const views = new Map();
async function draw(canvas) {
  await library;
  const key = canvas.dataset.chart, chart = readChart(key);
  const width = Math.floor(canvas.clientWidth) - 22, least = chart.usermeta?.minWidth ?? 160;
  if ("fills" in canvas.dataset) chart.width = Math.max(least, width);
  canvas.classList.toggle("scaled", least > width);
  const box = document.createElement("div");
  box.style.cssText = "position:absolute;visibility:hidden;width:100%";
  canvas.append(box);
  const { view } = await embed(box, chart);
  views.get(key)?.finalize();
  views.set(key, view);
  box.style.cssText = "";
  canvas.replaceChildren(box);
  box.querySelector("svg").setAttribute("aria-hidden", "true");
  canvas.dataset.drawn = "yes";
  canvas.dataset.width = canvas.clientWidth;
  if (canvas.scrollWidth > canvas.clientWidth + 1) canvas.tabIndex = 0;
  highlight(canvas);
  window.dispatchEvent(new CustomEvent("chart-drawn", { detail: { key, view } }));
}

/* Hovering: a point near the pointer shows its values. A line near the pointer shows the values of its nearest point. */

function listLines(group, pointer, x, y) {  // only lines that are visible at the pointer: a panel may clip its lines
  const isInside = pointer.x >= x && pointer.x <= x + group.width && pointer.y >= y && pointer.y <= y + group.height;
  return group.items.flatMap((mark) => {
    if (mark.marktype === "group") return mark.items.flatMap((part) => listLines(part, pointer, x + (part.x ?? 0), y + (part.y ?? 0)));
    const points = mark.marktype === "line" && (isInside || !mark.clip) ? mark.items.filter((item) => item.tooltip && item.defined !== false) : [];
    return points.length ? [points.map((item) => ({ item, x: x + item.x, y: y + item.y }))] : [];
  });
}
function measureDistance({ x, y }, one, other) {  // from a point to a segment
  const dx = other.x - one.x, dy = other.y - one.y, length = dx * dx + dy * dy;
  const position = length ? Math.min(1, Math.max(0, ((x - one.x) * dx + (y - one.y) * dy) / length)) : 0;
  return Math.hypot(x - one.x - position * dx, y - one.y - position * dy);
}
function listCorners(one, other) {  // a step goes first in one direction, then in the other
  const shape = one.item.interpolate ?? "";
  if (shape === "step-after") return [one, { x: other.x, y: one.y }, other];
  return shape === "step-before" ? [one, { x: one.x, y: other.y }, other] : [one, other];
}
function findNearestPoint(view, pointer, reach = 10) {
  const [left, top] = view.origin();
  let best = { distance: reach, item: null };
  for (const points of view.scenegraph().root.items.flatMap((group) => listLines(group, pointer, left + (group.x ?? 0), top + (group.y ?? 0)))) {
    for (let index = Math.min(1, points.length - 1); index < points.length; index += 1) {
      const one = points[Math.max(0, index - 1)], other = points[index], corners = listCorners(one, other);
      const distance = Math.min(...corners.slice(1).map((corner, place) => measureDistance(pointer, corners[place], corner)));
      const isNearer = Math.hypot(pointer.x - one.x, pointer.y - one.y) < Math.hypot(pointer.x - other.x, pointer.y - other.y);
      if (distance < best.distance) best = { distance, item: (isNearer ? one : other).item };
    }
  }
  return best.item;
}
function hover(event) {
  const canvas = event.currentTarget, view = views.get(canvas.dataset.chart), svg = canvas.querySelector("svg");
  const target = event.target.__data__;
  if (!view || !svg || (target?.tooltip && target.mark.marktype !== "line")) return;
  const box = svg.getBoundingClientRect(), scale = Number(svg.getAttribute("width")) / box.width || 1;
  const item = event.type === "mouseleave" ? null : findNearestPoint(view, { x: (event.clientX - box.left) * scale, y: (event.clientY - box.top) * scale });
  view.tooltip()(view, event, item, item?.tooltip);
}
const pause = () => new Promise((resolve) => setTimeout(resolve));
let queue = Promise.resolve();
function drawSoon(canvas) {
  if (canvas.dataset.queued) return;
  canvas.dataset.queued = "yes";
  queue = queue.then(pause).then(() => draw(canvas)).catch((error) => {
    if (!canvas.querySelector(":scope > svg")) canvas.textContent = `This figure cannot be drawn: ${error.message}`;
    console.error(error);
  });
}
const canvases = [...document.querySelectorAll("[data-chart]")];
const isVisible = (canvas) => canvas.offsetParent !== null;
const observer = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) drawSoon(target);
}, { rootMargin: "400px" });
canvases.forEach((canvas) => observer.observe(canvas));
for (const name of ["mousemove", "mouseleave"]) canvases.forEach((canvas) => canvas.addEventListener(name, hover));
window.addEventListener("resize", () => {
  for (const canvas of canvases) {
    if ("fills" in canvas.dataset && canvas.dataset.drawn && isVisible(canvas) && Math.abs(canvas.clientWidth - Number(canvas.dataset.width)) > 8) {
      delete canvas.dataset.queued;
      drawSoon(canvas);
    }
  }
});
window.fairtrialReady = () => {  // code that prints the page or takes pictures of it can await all visible charts
  canvases.filter(isVisible).forEach(drawSoon);
  return queue;
};

/* Selectors. Parts of the page with `data-when` are visible if the selectors have these values. The URL contains the state. */

function showSelection() {
  for (const part of document.querySelectorAll("[data-when]")) {
    part.hidden = !Object.entries(JSON.parse(part.dataset.when)).every(([name, value]) => state[name] === value);
  }
  for (const group of document.querySelectorAll("[data-choice]")) {
    const parts = [...group.children].filter((part) => part.dataset.when);
    const note = group.querySelector(":scope > .nothing");
    if (note) note.hidden = parts.some((part) => !part.hidden);
  }
  for (const control of document.querySelectorAll("[data-selector]")) showValue(control, state[control.dataset.selector]);
}
function showValue(control, value) {
  if (control.type === "range") {
    const values = JSON.parse(control.dataset.values), index = values.indexOf(value);
    if (index >= 0) control.value = index;
    control.setAttribute("aria-valuetext", value);
    control.nextElementSibling.textContent = index >= 0 ? value : "";
  } else control.value = value;
}
const readControl = (control) => (control.type === "range" ? JSON.parse(control.dataset.values)[control.value] : control.value);
function select(changes, push = false) {
  Object.assign(state, changes);
  showState();
  writeHash("", push);
}
function showState() {
  showSelection();
  highlightAll();
  window.dispatchEvent(new CustomEvent("state-changed"));
}
function writeHash(anchor = "", push = false) {
  const changed = Object.entries(state).filter(([name, value]) => value !== undefined && value !== "" && value !== selected[name]);
  const parts = changed.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  const hash = [...parts, ...(anchor ? [encodeURIComponent(anchor)] : [])].join("&");
  history[push ? "pushState" : "replaceState"](null, "", hash ? `#${hash}` : location.pathname + location.search);
}
function decode(text) {
  try { return decodeURIComponent(text); } catch (error) { return ""; }
}
function isKnown(name, value) {
  if (name === "learner") return [...document.querySelectorAll("[data-learner]")].some((chip) => chip.dataset.learner === value);
  const controls = [...document.querySelectorAll("[data-selector]")].filter((control) => control.dataset.selector === name);
  const values = controls.flatMap((control) => (control.type === "range" ? JSON.parse(control.dataset.values) : [...control.options].map((option) => option.value)));
  return values.includes(value) || (["threshold", "cost"].includes(name) && controls.length > 0);  // the explorer takes the nearest value
}
function readHash() {
  const parts = location.hash.slice(1).split("&").filter(Boolean);
  const settings = parts.filter((part) => part.includes("=")).map((part) => part.split("=").map(decode));
  for (const name of Object.keys(state)) delete state[name];
  Object.assign(state, selected, Object.fromEntries(settings.filter(([name, value]) => isKnown(name, value))));
  const anchor = decode(parts.find((part) => !part.includes("=")) ?? "");
  showState();
  if (parts.length) writeHash(document.getElementById(anchor) ? anchor : "");
  if (anchor) reveal(document.getElementById(anchor));
}
function reveal(target) {
  for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  target?.scrollIntoView();
}
document.querySelectorAll("[data-selector]").forEach((control) => control.addEventListener("input", () => select({ [control.dataset.selector]: readControl(control) }, control.type !== "range")));
window.addEventListener("hashchange", readHash);
window.fairtrialPage = { state, select, views, charts, highlight: highlightAll };

/* Highlighting: marks of other learners become pale in every chart, and rows of other learners in every table. */

const NAMES = ["learner", "model", "candidate"];
function highlight(canvas) {
  const learner = state.learner;
  for (const mark of canvas.querySelectorAll("svg .mark-symbol path, svg .mark-rect path, svg .mark-line path, svg .mark-area path, svg .mark-text text, svg .mark-rule line")) {
    const datum = mark.__data__?.datum, name = datum && NAMES.map((field) => datum[field]).find((value) => value !== undefined);
    mark.style.opacity = learner && name !== undefined && name !== learner ? 0.12 : "";
  }
}
function highlightAll() {
  for (const chip of document.querySelectorAll("[data-learner]")) chip.setAttribute("aria-pressed", String(chip.dataset.learner === state.learner));
  canvases.filter((canvas) => canvas.dataset.drawn).forEach(highlight);
  for (const row of document.querySelectorAll("tbody tr")) {
    row.classList.toggle("marked", Boolean(state.learner) && [...row.cells].some((cell) => cell.textContent === state.learner));
  }
}
document.querySelectorAll("[data-learner]").forEach((chip) => chip.addEventListener("click", () => {
  select({ learner: state.learner === chip.dataset.learner ? "" : chip.dataset.learner }, true);
}));

/* Theme */

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
const themeButton = document.getElementById("theme");
function nameTheme() {
  themeButton.textContent = isDark() ? "Light theme" : "Dark theme";
}
themeButton.addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  try { localStorage.setItem("fairtrial-theme", root.dataset.theme); } catch (error) { /* a file may have no storage */ }
  nameTheme();
});
dark.addEventListener("change", nameTheme);
nameTheme();

/* Tables */

const built = new Map();
function build(id) {
  if (!built.has(id)) built.set(id, document.getElementById(`lines-${id}`) ? buildRows(id) : Promise.resolve());
  return built.get(id);
}
async function buildRows(id) {
  const { rows, columns, best } = JSON.parse(await inflate(`lines-${id}`));
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

document.querySelectorAll("[data-filter]").forEach((input) => input.addEventListener("input", async () => {
  const id = input.dataset.filter, table = document.getElementById(id), details = table.closest("details");
  const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  await build(id);
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
function chartLines(key) {  // the frame of the figure or, if it has none, the largest data set of its chart
  const frame = Array.isArray(frames[key] ?? []) ? frames[key] : unpack(frames[key]);
  const rows = frame ?? Object.values(readChart(key).datasets || {}).sort((one, other) => other.length - one.length)[0] ?? [];
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return [names, ...rows.map((row) => names.map((name) => row[name]))];
}
function onClick(attribute, act) {
  document.querySelectorAll(`[data-${attribute}]`).forEach((button) => button.addEventListener("click", () => act(button.getAttribute(`data-${attribute}`), button)));
}
onClick("csv", async (id, button) => {
  await build(id);
  save(`${button.dataset.name}.csv`, "text/csv", csvOf(tableLines(document.getElementById(id))));
});
onClick("figure-csv", (key) => library.then(() => save(`${key}.csv`, "text/csv", csvOf(chartLines(key)))));
const onPaper = Object.fromEntries(Object.entries(colours).map(([name, colour]) => [`var(${name})`, colour]));
const PAPER = { "var(--line)": "#b5b5b5", "var(--grid)": "#e9e9e9", "var(--ink)": "#2b2b2b", "var(--soft)": "#6b6b6b" };
onClick("image", async (key) => {  // as on paper, with its title
  await library;
  const chart = readChart(key);
  const { view } = await embed(document.createElement("div"), { ...chart, title: titles[key], background: "white", padding: 12 });
  const svg = (await view.toSVG()).replace(/var\(--[\w-]+\)/g, (name) => PAPER[name] ?? onPaper[name] ?? "#000000");
  save(`${key}.svg`, "image/svg+xml", svg);
  view.finalize();
});

/* Current question in the navigation, and the state in the URL */

const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
let isPinned = false;  // after a click, because the last questions cannot reach the top of the window
for (const name of ["wheel", "touchmove", "keydown"]) window.addEventListener(name, () => { isPinned = false; }, { passive: true });
function markCurrent(id) {
  if (!links.has(id)) return;
  links.forEach((link) => link.removeAttribute("aria-current"));
  links.get(id).setAttribute("aria-current", "true");
}
const current = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting && !isPinned) markCurrent(target.id);
}, { rootMargin: "-20% 0px -70% 0px" });
document.querySelectorAll(".question").forEach((question) => current.observe(question));
document.querySelectorAll("a[href^='#']").forEach((link) => link.addEventListener("click", (event) => {
  event.preventDefault();
  const anchor = decode(link.hash.slice(1));
  writeHash(anchor, true);
  reveal(document.getElementById(anchor));
  markCurrent(anchor);
  isPinned = true;
}));
root.classList.add("scripted");
readHash();
})();
