// Two models side by side: the choice is in the address, the figures in one file per result.
import { chart } from "./models-chart.js";

const form = document.querySelector(".choice");
const place = document.getElementById("comparison");
const status = document.getElementById("status");
const folder = new URL("./", location.href);

const make = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
};

const files = new Map();
const load = (path) => {
  if (!files.has(path)) {
    const loading = fetch(new URL(path, folder)).then((answer) => {
      if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
      return answer.json();
    });
    loading.catch(() => files.delete(path));
    files.set(path, loading);
  }
  return files.get(path);
};

const withInterval = (row) => {
  if (row === undefined) return "not measured";
  return row.interval ? `${row.shown} [${row.interval}]` : row.shown;
};

// the title, with the unit where values lack it
const titled = ({ title, unit }) => (["share", "probability", "perplexity", ""].includes(unit) ? title : `${title} in ${unit}`);

const rowsOf = (first, second) => {
  const labels = [...new Set([...first.rows, ...second.rows].map((row) => row.label))];
  const find = (result, label) => result.rows.find((row) => row.label === label);
  return labels.map((label) => [label, find(first, label), find(second, label)]);
};

const scrolled = (label, table) => make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, table);

const valuesTable = (first, second, rows, difference) => {
  const names = [first.model, second.model, ...(difference ? ["Difference, B minus A"] : [])];
  const heading = make("tr", {}, make("th", { scope: "col" }, "Name"));
  names.forEach((name, i) => heading.append(make("th", { scope: "col" }, i < 2 ? `${"AB"[i]}: ${name}` : name)));
  const body = make("tbody");
  for (const [label, a, b] of rows) {
    const cells = [a, b].map((row) => make("td", {}, withInterval(row)));
    if (difference) cells.push(make("td", {}, withInterval(difference.rows[label])));
    body.append(make("tr", {}, make("th", { scope: "row" }, label), ...cells));
  }
  const shown = [...rows.flat(), ...Object.values(difference?.rows ?? {})];
  const said = shown.some((row) => row?.interval) ? "; in brackets the 95% interval" : "";
  const caption = make("caption", {}, `${titled(first)}${said}`);
  return scrolled(`${first.title}, table`, make("table", {}, caption, make("thead", {}, heading), body));
};

const signatureTable = (first, second) => {
  const [one, other] = [first, second].map((result) => new Map(result.signature));
  const names = [...new Set([...one.keys(), ...other.keys()])];
  const body = make("tbody");
  for (const name of names) {
    const values = [one, other].map((signature) => signature.get(name) ?? "none");
    const differs = values[0] !== values[1];
    const heading = make("th", { scope: "row" }, name, ...(differs ? [" ", make("strong", {}, "differs")] : []));
    body.append(make("tr", differs ? { class: "differs" } : {}, heading, ...values.map((value) => make("td", {}, value))));
  }
  const columns = ["Property", `A: ${first.model}`, `B: ${second.model}`].map((name) => make("th", { scope: "col" }, name));
  const table = make("table", { class: "signature" }, make("thead", {}, make("tr", {}, ...columns)), body);
  const summary = make("summary", {}, "Signatures: what the figures depend on");
  return make("details", { class: "signed" }, summary, scrolled(`${first.title}, signatures`, table));
};

const READING = "Both values, with 95% intervals where the measure gives them. This is not a test: whether intervals overlap does not say whether two models differ.";
const TESTED = "The difference is computed on the sentences that both runs have, with its 95% interval where the measure gives one; it is not corrected for the number of rows. A difference without an interval is not a test.";

const section = (first, second, difference) => {
  const rows = rowsOf(first, second);
  const id = `with-${first.group}`;
  const names = [first, second].map((result, i) =>
    make(
      "li",
      {},
      `${"AB"[i]}: `,
      make("a", { href: new URL(`../${result.page}`, folder).href }, result.model),
      ...(result.note ? [make("p", { class: "how" }, result.note)] : []),
    ),
  );
  return make(
    "section",
    { "aria-labelledby": id },
    make("h2", { id }, first.title),
    make("ul", { class: "plain" }, ...names),
    make("figure", {}, make("figcaption", {}, `${titled(first)}: A filled circle, B open square, lines 95% intervals, if any`), chart(first, rows)),
    valuesTable(first, second, rows, difference),
    make("p", { class: "how" }, difference ? TESTED : READING),
    make("p", { class: "how" }, make("strong", {}, "Limits: "), `${first.limits}.`),
    signatureTable(first, second),
  );
};

const compared = async (index, one, other, group) => {
  const keys = [one, other].map((model) => index.models[model].results[group]);
  const results = await Promise.all(keys.map((key) => load(`results/${key}.json`)));
  const file = `${keys[0]}--${keys[1]}.json`;
  const difference = index.differences.includes(file) ? await load(`differences/${file}`) : null;
  return section(...results, difference);
};

const explain = (index, one, other) => {
  if (one === other) return "Choose two different models.";
  const unknown = [one, other].find((model) => !Object.hasOwn(index.models, model));
  return unknown === undefined ? "" : `There is no model “${unknown}”. Choose two models from the lists.`;
};

let latest = 0;
const show = async () => {
  const mine = ++latest;
  const [one, other] = [form.elements.first.value, form.elements.second.value];
  status.textContent = "Loading the figures";
  place.hidden = false;
  try {
    const index = await load("results.json");
    const problem = explain(index, one, other);
    const groups = problem ? [] : Object.keys(index.models[one].results).filter((g) => g in index.models[other].results);
    const sections = await Promise.all(groups.map((group) => compared(index, one, other, group)));
    if (mine !== latest) return;
    place.replaceChildren(...sections);
    place.hidden = !sections.length;
    const none = "These two models have no measure on the same release in common. Choose two others.";
    const names = problem ? [] : [one, other].map((model) => index.models[model].name);
    status.textContent = problem || (groups.length ? `A is ${names[0]}, B is ${names[1]}.` : none);
  } catch {
    if (mine !== latest) return;
    place.replaceChildren();
    place.hidden = true;
    status.textContent = "The figures could not be loaded. Check the connection, then choose the models again.";
  }
};

const choose = () => {
  const asked = new URLSearchParams(location.search);
  for (const name of ["first", "second"]) {
    const select = form.elements[name];
    const value = asked.get(name);
    if (value === null) continue;
    const known = [...select.options].find((option) => [option.value, option.text].includes(value));
    if (known === undefined) select.append(new Option(value, value));
    select.value = known?.value ?? value;
  }
  return show();
};

if (form) {
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", () => {
    const address = new URL(location.href);
    for (const name of ["first", "second"]) address.searchParams.set(name, form.elements[name].value);
    history.pushState(null, "", address);
    show();
  });
  form.querySelector("button").addEventListener("click", show);
  window.addEventListener("popstate", choose);
  choose();
}
