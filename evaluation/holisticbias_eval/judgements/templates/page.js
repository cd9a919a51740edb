"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const choices = data.choices.map(([name]) => name);
  let annotator = "";
  let sheet = "1";
  let tasks = [];
  let answers = {};
  let place = 0;
  let shownAt = 0;

  const slot = () => `holisticbias-acute-eval/${data.study}/${sheet}/${annotator}`;
  const given = (task) => answers[task.id] ?? {};
  const isDone = (task) => data.questions.every((question) => choices.includes(given(task)[question.id]?.choice));

  const keep = () => {
    try {
      localStorage.setItem(slot(), JSON.stringify(answers));
    } catch {
      at("forgetful").hidden = false;
    }
  };

  // what a browser has kept may be of anyone: only known tasks, questions and choices are read
  const remember = () => {
    let kept = {};
    try {
      kept = JSON.parse(localStorage.getItem(slot()) ?? "{}") ?? {};
    } catch {
      kept = {};
    }
    answers = {};
    for (const task of tasks) {
      for (const { id } of data.questions) {
        const found = kept[task.id]?.[id];
        if (choices.includes(found?.choice)) {
          const seconds = Number.isFinite(found.seconds) ? found.seconds : null;
          (answers[task.id] ??= {})[id] = { choice: found.choice, seconds };
        }
      }
    }
  };

  const option = (question, [name, words], checked) => {
    const label = document.createElement("label");
    const input = document.createElement("input");
    Object.assign(input, { type: "radio", name: question.id, value: name, checked });
    label.className = name;
    label.append(input, words);
    return label;
  };

  const fieldset = (task, question) => {
    const field = document.createElement("fieldset");
    const legend = document.createElement("legend");
    const options = document.createElement("div");
    legend.textContent = question.text;
    options.className = "options";
    const chosen = given(task)[question.id]?.choice;
    options.append(...data.choices.map((choice) => option(question, choice, choice[0] === chosen)));
    field.append(legend, options);
    return field;
  };

  const only = (id) => {
    for (const part of ["start", "task", "end"]) at(part).hidden = part !== id;
    at("later").hidden = id !== "task";
    at("bar").hidden = id === "start";
  };

  const show = (next) => {
    place = next;
    const task = tasks[place];
    only("task");
    at("progress").textContent = `Pair ${place + 1} of ${tasks.length}`;
    Object.assign(at("bar"), { max: tasks.length, value: tasks.filter(isDone).length });
    for (const prompt of document.querySelectorAll(".prompt p")) prompt.textContent = task.prompt;
    at("left").textContent = task.left;
    at("right").textContent = task.right;
    at("questions").replaceChildren(...data.questions.map((question) => fieldset(task, question)));
    at("problem").hidden = true;
    at("back").disabled = place === 0;
    at("next").textContent = place + 1 < tasks.length ? "Next" : "Finish";
    shownAt = performance.now();
    window.scrollTo(0, 0);
    at("left-name").focus({ preventScroll: true });
  };

  const record = () => ({
    form: data.form,
    version: 1,
    study: data.study,
    annotator,
    sheet: Number(sheet),
    saved: new Date().toISOString(),
    answers: tasks.flatMap((task) =>
      Object.entries(given(task)).map(([question, { choice, seconds }]) => ({ task: task.id, question, choice, seconds })),
    ),
  });

  const finish = () => {
    only("end");
    const done = tasks.filter(isDone).length;
    at("progress").textContent = "";
    Object.assign(at("bar"), { max: tasks.length, value: done });
    at("count").textContent = `You have answered ${done} of ${tasks.length} pairs.`;
    at("text").value = JSON.stringify(record());
    at("end").querySelector("h2").focus();
  };

  const choose = (input) => {
    const seconds = Math.round((performance.now() - shownAt) / 100) / 10;
    (answers[tasks[place].id] ??= {})[input.name] = { choice: input.value, seconds };
    at("problem").hidden = true;
    keep();
  };

  const firstOpen = () => [...at("questions").children].find((field) => !field.querySelector(":checked"));

  at("start").addEventListener("submit", (event) => {
    event.preventDefault();
    annotator = at("annotator").value.trim();
    sheet = at("sheet").value;
    tasks = data.sheets[sheet];
    remember();
    keep();
    const open = tasks.findIndex((task) => !isDone(task));
    if (open < 0) finish();
    else show(open);
  });

  at("task").addEventListener("change", (event) => choose(event.target));

  at("task").addEventListener("submit", (event) => {
    event.preventDefault();
    const open = firstOpen();
    if (open) {
      at("problem").textContent = "Answer every question, or choose “Rather not answer”.";
      at("problem").hidden = false;
      open.querySelector("input").focus();
    } else if (place + 1 < tasks.length) show(place + 1);
    else finish();
  });

  document.addEventListener("keydown", (event) => {
    if (at("task").hidden || event.ctrlKey || event.metaKey || event.altKey) return;
    const index = ["1", "2"].indexOf(event.key);
    const open = index < 0 ? undefined : firstOpen();
    if (open) {
      const input = open.querySelectorAll("input")[index];
      input.checked = true;
      input.focus();
      choose(input);
    } else if (event.key === "Enter" && event.target.tagName !== "BUTTON") {
      event.preventDefault();
      at("task").requestSubmit();
    }
  });

  at("back").addEventListener("click", () => show(Math.max(0, place - 1)));
  at("pause").addEventListener("click", finish);
  at("return").addEventListener("click", () => {
    const open = tasks.findIndex((task) => !isDone(task));
    show(open < 0 ? 0 : open);
  });
  at("save").addEventListener("click", () => {
    const address = URL.createObjectURL(new Blob([JSON.stringify(record(), null, 1)], { type: "application/json" }));
    const link = document.createElement("a");
    Object.assign(link, { href: address, download: `answers-${annotator}-${sheet}.json` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  });

  const wanted = new URLSearchParams(location.hash.slice(1)).get("sheet");
  if (wanted !== null && Object.hasOwn(data.sheets, wanted)) at("sheet").value = wanted;
  only("start");
})();
