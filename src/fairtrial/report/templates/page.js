"use strict";
const charts = JSON.parse(document.getElementById("charts").textContent);
const drawn = new Map();
const root = document.documentElement;
const darkMedia = window.matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  return root.dataset.theme ? root.dataset.theme === "dark" : darkMedia.matches;
}

function chartConfig() {
  const style = getComputedStyle(root);
  const of = (name) => style.getPropertyValue(name).trim();
  const words = { labelColor: of("--ink"), titleColor: of("--ink") };
  return {
    background: "transparent",
    axis: { ...words, domainColor: of("--soft"), tickColor: of("--soft"), gridColor: of("--line") },
    legend: words, header: words, title: { color: of("--ink"), subtitleColor: of("--soft") },
    text: { color: of("--ink") }, rule: { color: of("--soft") },
  };
}

// Ink that a chart sets itself is black on paper; in the dark it must become light.
function inked(part) {
  if (!isDark()) return part;
  if (Array.isArray(part)) return part.map(inked);
  if (part && typeof part === "object") return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, key === "datasets" ? value : inked(value)]));
  return { "#000000": "#F2F2F2", "#2B2B2B": "#E6EDF3", "#6B6B6B": "#A4ADB8", "black": "#F2F2F2", "white": "#14171A", "#FFFFFF": "#14171A", "#0072B2": "#58A6E8", "#D55E00": "#F58A3C", "#009E73": "#3ECF9F" }[part] || part;
}

function merged(ours, theirs) {
  const out = { ...ours };
  for (const [key, value] of Object.entries(theirs)) {
    out[key] = value && typeof value === "object" && !Array.isArray(value) ? merged(ours[key] || {}, value) : value;
  }
  return out;
}

async function draw(canvas) {
  const key = canvas.dataset.chart;
  const spec = inked(structuredClone(charts[key]));
  spec.config = merged(spec.config || {}, chartConfig());
  const result = await vegaEmbed(canvas, spec, { actions: false, renderer: "svg", ast: false });
  drawn.set(key, result);
  canvas.style.minHeight = "";
}

let turn = Promise.resolve();
function drawSoon(canvas) {
  if (canvas.dataset.asked) return;
  canvas.dataset.asked = "yes";
  turn = turn.then(() => draw(canvas)).catch((error) => { canvas.textContent = "This figure cannot be drawn: " + error.message; });
}

const canvases = [...document.querySelectorAll("[data-chart]")];
const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) { drawSoon(entry.target); seen.unobserve(entry.target); }
}, { rootMargin: "600px" });
canvases.forEach((canvas) => seen.observe(canvas));

function drawAll() {
  canvases.forEach(drawSoon);
  return turn;
}
window.fairtrialReady = drawAll;  // for whoever prints the page: await it first
window.addEventListener("beforeprint", () => { document.querySelectorAll("details").forEach((each) => { each.open = true; }); });
window.addEventListener("load", () => setTimeout(drawAll, 1500));

async function redraw() {
  const now = canvases.filter((canvas) => drawn.has(canvas.dataset.chart));
  for (const canvas of now) { drawn.get(canvas.dataset.chart).finalize(); await draw(canvas); }
}
document.getElementById("theme").addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  try { localStorage.setItem("fairtrial-theme", root.dataset.theme); } catch (error) { /* a file may have no storage */ }
  redraw();
});
darkMedia.addEventListener("change", redraw);

function valueOf(row, place) {
  const cell = row.cells[place];
  return cell.dataset.v === undefined ? cell.textContent : cell.dataset.v === "" ? NaN : Number(cell.dataset.v);
}
document.querySelectorAll("button.sort").forEach((button) => button.addEventListener("click", () => {
  const head = button.closest("th"), body = button.closest("table").tBodies[0], place = head.cellIndex;
  const down = head.getAttribute("aria-sort") === "ascending";
  const rows = [...body.rows].sort((one, other) => {
    const a = valueOf(one, place), b = valueOf(other, place);
    if (typeof a === "number" && typeof b === "number") {
      if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
      return down ? b - a : a - b;
    }
    return (down ? -1 : 1) * String(a).localeCompare(String(b), undefined, { numeric: true });
  });
  [...head.parentNode.cells].forEach((each) => each.setAttribute("aria-sort", "none"));
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  body.append(...rows);
}));

document.querySelectorAll("[data-filter]").forEach((input) => input.addEventListener("input", () => {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = [...document.getElementById(input.dataset.filter).tBodies[0].rows];
  const details = document.getElementById(input.dataset.filter).closest("details");
  if (details && words.length) details.open = true;
  let left = 0;
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
    left += !row.hidden;
  }
  document.querySelector(`[data-count="${input.dataset.filter}"]`).textContent = words.length ? `${left} of ${rows.length} lines` : "";
}));

function quoted(value) {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
function save(name, type, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
document.querySelectorAll("[data-csv]").forEach((button) => button.addEventListener("click", () => {
  const table = document.getElementById(button.dataset.csv);
  const lines = [[...table.tHead.rows[0].cells].map((cell) => quoted(cell.textContent.trim()))];
  for (const row of table.tBodies[0].rows) {
    if (!row.hidden) lines.push([...row.cells].map((cell) => quoted(cell.dataset.v === undefined ? cell.textContent : cell.dataset.v)));
  }
  save(`${button.dataset.name}.csv`, "text/csv", lines.map((line) => line.join(",")).join("\n") + "\n");
}));
document.querySelectorAll("[data-figure-csv]").forEach((button) => button.addEventListener("click", () => {
  const sets = Object.values(charts[button.dataset.figureCsv].datasets || {});
  const rows = sets.sort((one, other) => other.length - one.length)[0] || [];
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = [names.map(quoted), ...rows.map((row) => names.map((name) => quoted(row[name])))];
  save(`${button.dataset.figureCsv}.csv`, "text/csv", lines.map((line) => line.join(",")).join("\n") + "\n");
}));
document.querySelectorAll("[data-image]").forEach((button) => button.addEventListener("click", async () => {
  const canvas = document.querySelector(`[data-chart="${button.dataset.image}"]`);
  drawSoon(canvas);
  await turn;
  save(`${button.dataset.image}.svg`, "image/svg+xml", await drawn.get(button.dataset.image).view.toSVG());
}));

const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
const here = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) {
    links.forEach((link) => link.removeAttribute("aria-current"));
    links.get(entry.target.id)?.setAttribute("aria-current", "true");
  }
}, { rootMargin: "-10% 0px -80% 0px" });
document.querySelectorAll("main > section").forEach((section) => here.observe(section));
