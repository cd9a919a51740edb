// Search and filter the list of terms

const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replaceAll("’", "'");

// The state of the form is in the query of the address, so that a link opens the page as it is

const PAUSE = 400; // ms between two changes of the address: Safari refuses more than 100 in 30 seconds

const names = (form) => [...form.elements].filter((element) => element.name).map((element) => element.name);

const readAddress = (form) => {
  const query = new URLSearchParams(location.search);
  for (const name of names(form)) {
    if (query.has(name)) form.elements[name].value = query.get(name);
    if (form.elements[name].selectedIndex === -1) form.elements[name].selectedIndex = 0;
  }
  return names(form).some((name) => query.has(name));
};

let last = 0;
let timer;
let waiting;

const write = () => {
  clearTimeout(timer);
  if (!waiting) return;
  const values = names(waiting).map((name) => [name, waiting.elements[name].value]);
  const query = new URLSearchParams(values.filter(([, value]) => value));
  history.replaceState(null, "", (query.size ? `?${query}` : location.pathname) + location.hash);
  waiting = undefined;
  last = Date.now();
};

const writeAddress = (form) => {
  waiting = form;
  clearTimeout(timer);
  timer = setTimeout(write, Math.max(0, last + PAUSE - Date.now()));
  if (Date.now() >= last + PAUSE) write();
};

addEventListener("pagehide", write);

const form = document.getElementById("search");
const { q, axis, bucket, judgement, version } = form.elements;
const jumps = document.querySelector(".jump");
const output = form.querySelector("output");
const sections = [...document.querySelectorAll("#terms > section")].map((section) => ({
  section,
  jump: document.querySelector(`.jump a[href="#${section.id}"]`).parentElement,
  terms: [...section.querySelectorAll("li")].map((item) => ({
    item,
    link: item.firstElementChild,
    text: folded(`${item.firstElementChild.textContent} ${item.firstElementChild.getAttribute("href").slice(0, -5)}`),
    bucket: item.dataset.bucket,
    judgement: item.dataset.judgement,
    versions: item.dataset.versions.split(" "),
  })),
}));
const total = sections.reduce((sum, { terms }) => sum + terms.length, 0);

const fillBuckets = () => {
  const chosen = bucket.value;
  const own = sections.filter(({ section }) => !axis.value || section.id === axis.value);
  const buckets = [...new Set(own.flatMap(({ terms }) => terms.map((term) => term.bucket)))].filter(Boolean).sort();
  bucket.replaceChildren(new Option("all", ""), ...buckets.map((name) => new Option(name.replaceAll("_", " "), name)));
  bucket.value = buckets.includes(chosen) ? chosen : "";
};

const matches = (term, words) =>
  words.every((word) => term.text.includes(word)) &&
  (!bucket.value || term.bucket === bucket.value) &&
  (!judgement.value || term.judgement === judgement.value) &&
  (!version.value || term.versions.includes(version.value));

const filter = () => {
  const words = folded(q.value).split(/\s+/).filter(Boolean);
  let found = 0;
  for (const { section, jump, terms } of sections) {
    let own = 0;
    for (const term of terms) {
      const shown = (!axis.value || section.id === axis.value) && matches(term, words);
      if (term.item.hidden === shown) term.item.hidden = !shown;
      own += shown ? 1 : 0;
    }
    section.hidden = jump.hidden = own === 0;
    const count = jump.querySelector(".count");
    count.textContent = count.textContent.replace(/^\d+/, own);
    found += own;
  }
  jumps.hidden = found === 0;
  output.textContent = found ? `${found.toLocaleString("en-US")} of ${total.toLocaleString("en-US")} terms` : "No term matches: change the words or clear a filter.";
};

const update = () => {
  fillBuckets();
  filter();
  writeAddress(form);
};

const visibleLinks = () =>
  sections.flatMap(({ terms }) => terms.filter(({ item }) => !item.hidden).map(({ link }) => link));

// Arrow keys lead from the search field through the results and back
const move = (event) => {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  const links = visibleLinks();
  const at = links.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
  if (document.activeElement !== q && !links.includes(document.activeElement)) return;
  event.preventDefault();
  (at < 0 ? q : links[Math.min(at, links.length - 1)])?.focus();
};

document.addEventListener("keydown", (event) => {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName);
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    q.focus();
    q.select();
  }
  move(event);
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  visibleLinks()[0]?.click();
});
form.addEventListener("reset", () => setTimeout(update));
form.addEventListener("input", update);

fillBuckets();
if (readAddress(form)) {
  fillBuckets();
  readAddress(form);
  filter();
}
