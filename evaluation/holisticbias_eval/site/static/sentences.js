// All sentences of a term, read from a Parquet file in parts, with filters and pages
import { readAddress, writeAddress } from "./address.js";

const PAGE = 50;

const form = document.getElementById("find-sentences");
const { version, template, noun } = form.elements;
const button = form.querySelector("button");
const output = form.querySelector("output");
const list = document.getElementById("found-sentences");
const more = document.getElementById("more-sentences");
const loaded = new Map();
let matching = [];

const read = async ({ file, first, count, size, footer }) => {
  const { asyncBufferFromUrl, parquetMetadataAsync, parquetReadObjects } = await import("./vendor/hyparquet.js");
  const buffer = await asyncBufferFromUrl({ url: new URL(file, location.href).href, byteLength: Number(size) });
  const metadata = await parquetMetadataAsync(buffer, { initialFetchSize: Number(footer) });
  const rowStart = Number(first);
  return parquetReadObjects({ file: buffer, metadata, rowStart, rowEnd: rowStart + Number(count) });
};

const rowsOf = (option) => {
  if (!loaded.has(option.value)) {
    const reading = read(option.dataset);
    reading.catch(() => loaded.delete(option.value)); // the next attempt reads again
    loaded.set(option.value, reading);
  }
  return loaded.get(option.value);
};

const fill = (select, values) => {
  const chosen = select.value || new URLSearchParams(location.search).get(select.name) || "";
  select.replaceChildren(new Option("all", ""), ...values.map(([value, label]) => new Option(label, value)));
  select.value = chosen;
  if (select.selectedIndex === -1) select.selectedIndex = 0;
  select.parentElement.hidden = false;
};

const distinct = (rows, name) => [...new Set(rows.map((row) => row[name]))];

const item = (row) => {
  const text = document.createElement("bdi");
  text.textContent = row.text;
  const line = document.createElement("li");
  line.append(text);
  return line;
};

const showMore = () => {
  const shown = list.children.length;
  list.append(...matching.slice(shown, shown + PAGE).map(item));
  more.hidden = list.children.length >= matching.length;
  list.hidden = false;
};

const NO_NOUN = "-";

const filter = (rows) => {
  matching = rows.filter(
    (row) => (!template.value || row.template === template.value) && (!noun.value || (row.noun ?? NO_NOUN) === noun.value),
  );
  list.replaceChildren();
  showMore();
  output.textContent = `${matching.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")} sentences`;
};

const show = async () => {
  const option = version.selectedOptions[0];
  output.textContent = "Loading …";
  try {
    const rows = await rowsOf(option);
    if (option !== version.selectedOptions[0]) return;
    fill(template, distinct(rows, "template").map((text) => [text, text.replace(/\{.*?\}/, "…")]));
    fill(noun, distinct(rows, "noun").map((text) => [text ?? NO_NOUN, text ?? "without a noun"]));
    button.hidden = document.getElementById("example-sentences").hidden = true;
    filter(rows);
    writeAddress(form);
  } catch {
    button.hidden = false;
    button.textContent = "Try again";
    output.textContent = "The sentences could not be loaded. Check the connection, then try again.";
  }
};

form.addEventListener("submit", (event) => {
  event.preventDefault();
  show();
});
form.addEventListener("change", () => {
  if (button.hidden) show();
});
more.addEventListener("click", () => {
  const next = list.children.length;
  showMore();
  list.children[next].tabIndex = -1;
  list.children[next].focus();
});

if (readAddress(form)) show();
