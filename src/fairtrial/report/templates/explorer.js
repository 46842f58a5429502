"use strict";
(() => {  // The explorer computes the results at the selected threshold and costs from the counts of each model.
const { thresholds, datasets } = JSON.parse(document.getElementById("explorer-data").textContent);
const { state, select, views, charts, highlight } = window.fairtrialPage;
const explorer = document.getElementById("explorer"), matrix = document.getElementById("explorer-matrix");

function round(value, digits = 3) {  // to significant digits; ties go to the even digit, as in the texts of the page
  const [mantissa, power] = Math.abs(value).toExponential(60).split("e"), text = mantissa.replace(".", "");
  const isDown = /^50*$/.test(text.slice(digits)) && Number(text[digits - 1]) % 2 === 0;
  return isDown ? Math.sign(value) * Number(`${text[0]}.${text.slice(1, digits)}e${power}`) : Number(value.toPrecision(digits));
}
const short = (value) => (Math.abs(value) >= 1000 ? round(value, Math.trunc(Math.abs(value)).toString().length).toLocaleString("en") : String(round(value)));
const percent = (value) => `${round(100 * value)} %`;
const parseCost = (text) => text.split("/").map(Number).concat(1).slice(0, 2);  // of a false negative and a false positive
const costOf = ({ tp, fp, positives, negatives }, index, [fn, each]) => (1000 * (each * fp[index] + fn * (positives - tp[index]))) / (positives + negatives);

function compareWithHalf(cost, half) {
  if (Number(state.threshold) === 0.5 || half === 0) return "";
  const change = Math.round(100 * (cost / half - 1));
  return change === 0 ? " (about the same as at 0.5)" : ` (${Math.abs(change)} % ${change < 0 ? "less" : "more"} than at 0.5)`;
}
function show() {
  for (const control of explorer.querySelectorAll("input[data-selector]")) {  // a link may name a value that cannot be selected
    const name = control.dataset.selector, values = JSON.parse(control.dataset.values);
    if (!values.includes(state[name])) return select({ [name]: findNearest(values, state[name]) });
  }
  explorer.hidden = matrix.hidden = state.dataset !== undefined && !(state.dataset in datasets);
  const name = state.dataset in datasets ? state.dataset : Object.keys(datasets)[0], dataset = datasets[name];
  const model = state.model in dataset.models ? state.model : Object.keys(dataset.models)[0];
  const counts = dataset.models[model], index = thresholds.indexOf(Number(state.threshold)), costs = parseCost(state.cost);
  const tp = counts.tp[index], fp = counts.fp[index], cost = costOf(counts, index, costs);
  const cells = [counts.negatives - fp, fp, counts.positives - tp, tp];
  matrix.querySelectorAll("tbody td").forEach((cell, position) => {
    const rate = cells[position] / (position < 2 ? counts.negatives : counts.positives);
    cell.style.setProperty("--rate", rate);
    cell.querySelector("b").textContent = cells[position].toLocaleString("en", { maximumSignificantDigits: 6 });
    cell.querySelector("span").textContent = percent(rate);
  });
  const texts = {
    model, threshold: state.threshold, costs: costs.join(" : "), cost: short(cost), positive: dataset.positive, negative: dataset.negative,
    change: compareWithHalf(cost, costOf(counts, thresholds.indexOf(0.5), costs)),
    where: state.dataset === undefined ? "" : ` on ${name}`, recall: short(tp / counts.positives), precision: tp + fp > 0 ? short(tp / (tp + fp)) : "undefined",
  };
  for (const part of document.querySelectorAll("[data-text]")) part.textContent = texts[part.dataset.text];
  const slider = explorer.querySelector("[data-selector='cost']");
  slider.setAttribute("aria-valuetext", texts.costs);
  slider.nextElementSibling.textContent = texts.costs;
  views.forEach((view, key) => showInChart(key, view));
}
function findNearest(values, text = "") {
  const target = Number(text.split("/")[0]) / Number(text.split("/")[1] ?? 1), size = (value) => parseCost(value)[0] / parseCost(value)[1];
  const distance = (value) => Math.abs(size(value) - target);
  return Number.isFinite(target) ? values.reduce((best, value) => (distance(value) < distance(best) ? value : best)) : values[(values.length - 1) / 2];
}
function showInChart(key, view) {
  const parameters = (charts[key].params ?? []).map(({ name }) => name);
  if (!parameters.includes("threshold")) return;
  const [fn, fp] = parseCost(state.cost), values = { threshold: Number(state.threshold), cost_fn: fn, cost_fp: fp };
  for (const [name, value] of Object.entries(values)) if (parameters.includes(name)) view.signal(name, value);
  view.runAsync().then(() => state.learner && highlight());
}
window.addEventListener("state-changed", show);
window.addEventListener("chart-drawn", ({ detail: { key, view } }) => showInChart(key, view));
show();
})();
