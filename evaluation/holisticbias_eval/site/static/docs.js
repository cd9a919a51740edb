// Search the documentation: all words must be in a passage, its heading or its page's title.
const SHOWN = 20;
const AROUND = 60;

const form = document.querySelector(".docs-search");
const status = form.querySelector("[role=status]");
const list = form.querySelector("ol");
const contents = document.querySelector(".contents");

const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

let passages = null;
const load = () => {
  passages ??= fetch(form.dataset.index)
    .then((answer) => {
      if (!answer.ok) throw new Error(String(answer.status));
      return answer.json();
    })
    .then((rows) => rows.map((row) => ({ row, title: fold(`${row[1]} ${row[2]}`), text: fold(row[3]) })));
  passages.catch(() => {
    passages = null;
  });
  return passages;
};

const excerpt = (passage, words) => {
  const text = passage.row[3];
  const place = Math.max(0, Math.min(...words.map((word) => passage.text.indexOf(word)).filter((i) => i >= 0)) - AROUND);
  if (!Number.isFinite(place)) return text.slice(0, 2 * AROUND);
  return `${place ? "…" : ""}${text.slice(place, place + 3 * AROUND)}…`;
};

const item = (passage, words) => {
  const [path, page, heading] = passage.row;
  const entry = document.createElement("li");
  const link = document.createElement("a");
  const found = document.createElement("span");
  link.href = new URL(path, new URL(form.dataset.index, location.href)).href;
  link.textContent = page === heading ? page : `${page}: ${heading}`;
  found.textContent = excerpt(passage, words);
  entry.append(link, found);
  return entry;
};

const search = async () => {
  const words = fold(form.elements.words.value).split(/\s+/).filter(Boolean);
  if (!words.length) {
    list.replaceChildren();
    status.textContent = "";
    return;
  }
  try {
    const all = await load();
    if (words.join(" ") !== fold(form.elements.words.value).split(/\s+/).filter(Boolean).join(" ")) return;
    const found = all.filter(({ title, text }) => words.every((word) => title.includes(word) || text.includes(word)));
    const inTitle = ({ title }) => words.every((word) => title.includes(word));
    found.sort((a, b) => inTitle(b) - inTitle(a));
    list.replaceChildren(...found.slice(0, SHOWN).map((passage) => item(passage, words)));
    const more = found.length > SHOWN ? `, the first ${SHOWN} shown` : "";
    status.textContent = found.length ? `${found.length} passage${found.length > 1 ? "s" : ""}${more}` : "Nothing found.";
  } catch {
    list.replaceChildren();
    status.textContent = "The search could not be loaded. Check the connection, then type again.";
  }
};

form.hidden = false;
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", search);
if (window.matchMedia("(min-width: 70rem)").matches) contents.open = true;
