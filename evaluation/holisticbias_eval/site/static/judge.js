// Judge the terms of an axis one by one. The judgements stay in this browser until they are deleted
const KEY = "holisticbias-judgements";
const FORMAT = 1;

const read = () => {
  const { reviewer = "", locale = "", judgements = {} } = JSON.parse(localStorage.getItem(KEY) ?? "{}");
  return { reviewer, locale, judgements };
};
let kept = { reviewer: "", locale: "", judgements: {} };
let stored = true;
const reread = () => {
  try {
    if (stored) kept = read();
  } catch {
    stored = false;
  }
};
reread();

const handing = document.getElementById("handing-in");
const said = document.getElementById("said");
const count = () => Object.keys(kept.judgements).length;
const judgements = (number) => `${number} ${number === 1 ? "judgement" : "judgements"}`;

// Other tabs may have judged other terms since this one was opened
const update = (change) => {
  reread();
  change();
  try {
    if (stored) localStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    stored = false;
  }
  if (!stored) said.textContent = "This browser keeps nothing: download your judgements before you leave the page.";
};

// Handing in

const today = () => new Date().toISOString().slice(0, 10);

const text = () =>
  `${JSON.stringify(
    {
      holisticbias_judgements: FORMAT,
      ...(kept.reviewer && { reviewer: kept.reviewer }),
      ...(kept.locale && { locale: kept.locale }),
      judgements: Object.entries(kept.judgements).map(([id, { judgement, date, comment }]) => ({
        id,
        judgement,
        date,
        ...(comment && { comment }),
      })),
    },
    null,
    2,
  )}\n`;

const showCount = () => {
  const none = count() === 0;
  for (const button of handing.querySelectorAll("button")) button.disabled = none;
  document.getElementById("download").textContent = none ? "Download" : `Download ${judgements(count())}`;
};

handing.elements.reviewer.value = kept.reviewer;
handing.elements.locale.value = kept.locale;
handing.addEventListener("input", () => {
  update(() => {
    for (const name of ["reviewer", "locale"]) {
      const field = handing.elements[name];
      kept[name] = field.validity.valid ? field.value : "";
    }
  });
});
handing.addEventListener("submit", (event) => {
  event.preventDefault();
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text()], { type: "application/json" }));
  link.download = `judgements-${today()}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  said.textContent = `${judgements(count())} downloaded.`;
});
document.getElementById("copy").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(text());
    said.textContent = `${judgements(count())} copied: paste them into the private report.`;
  } catch {
    said.textContent = "The browser does not allow this page to copy: download the file.";
  }
});
document.getElementById("delete").addEventListener("click", () => {
  if (!confirm(`Delete ${judgements(count())} from this browser? This cannot be undone.`)) return;
  update(() => (kept.judgements = {}));
  said.textContent = "Deleted.";
  refresh();
});

// The axes, each with the number of terms judged in this browser

const showAxes = () => {
  for (const item of document.querySelectorAll("#axes li")) {
    const ids = item.dataset.ids.split(" ").filter(Boolean);
    const own = ids.filter((id) => kept.judgements[id]).length;
    const label = item.querySelector(".count");
    label.dataset.waiting ??= label.textContent;
    label.textContent = own ? `${own} of ${ids.length} judged by you` : label.dataset.waiting;
  }
};

// The queue of an axis

const terms = [...document.querySelectorAll("#queue > li")];
const form = document.getElementById("judging");
const done = document.getElementById("done");
const progress = document.getElementById("progress");
const answers = form ? [...form.querySelectorAll("[value]")] : [];
const isJudged = ({ id }) => Boolean(kept.judgements[id]);
let at = 0;

const showTerm = (focus) => {
  terms.forEach((term, i) => (term.hidden = i !== at));
  const over = at >= terms.length;
  form.hidden = over;
  done.hidden = !over;
  const own = terms.filter(isJudged).length;
  progress.textContent = over
    ? `You have judged ${own} of ${terms.length} terms.`
    : `Term ${at + 1} of ${terms.length}; you have judged ${own}.`;
  if (!over) {
    const made = kept.judgements[terms[at].id];
    form.elements.comment.value = made?.comment ?? "";
    for (const button of answers) button.setAttribute("aria-pressed", String(button.value === made?.judgement));
    document.getElementById("back").disabled = at === 0;
  }
  if (focus) (over ? done : terms[at].querySelector("h2")).focus();
};

const go = (place) => {
  at = Math.max(0, Math.min(place, terms.length));
  showTerm(true);
};

const judge = (judgement) => {
  const { id } = terms[at];
  const comment = form.elements.comment.value.trim();
  let again;
  update(() => {
    again = kept.judgements[id]?.judgement === judgement;
    if (again) delete kept.judgements[id];
    else kept.judgements[id] = { judgement, date: today(), comment };
  });
  if (again) showTerm(false);
  else go(at + 1);
  showCount();
};

const refresh = () => {
  showCount();
  showAxes();
  if (form) showTerm(false);
};

if (form) {
  const linked = terms.findIndex(({ id }) => id === decodeURIComponent(location.hash.slice(1)));
  const first = terms.findIndex((term) => !isJudged(term));
  at = linked >= 0 ? linked : first >= 0 ? first : terms.length;
  for (const button of answers) button.addEventListener("click", () => judge(button.value));
  document.getElementById("skip").addEventListener("click", () => go(at + 1));
  document.getElementById("back").addEventListener("click", () => go(at - 1));
  form.elements.comment.addEventListener("input", ({ target }) => {
    const { id } = terms[at];
    if (!kept.judgements[id]) return;
    update(() => {
      if (kept.judgements[id]) kept.judgements[id].comment = target.value.trim();
    });
  });
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName);
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const answer = form.hidden ? undefined : answers[Number(event.key) - 1];
    if (answer) judge(answer.value);
    else if (event.key === "ArrowRight") go(at + 1);
    else if (event.key === "ArrowLeft") go(at - 1);
    else return;
    event.preventDefault();
  });
}
refresh();
addEventListener("storage", ({ key }) => {
  if (key !== KEY) return;
  reread();
  showCount();
  showAxes();
});
