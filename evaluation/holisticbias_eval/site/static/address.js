// The state of a form in the query of the address, so that a link opens the page as it is

const PAUSE = 400; // ms between two changes of the address: Safari refuses more than 100 in 30 seconds

const names = (form) => [...form.elements].filter((element) => element.name).map((element) => element.name);

export const readAddress = (form) => {
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

export const writeAddress = (form) => {
  waiting = form;
  clearTimeout(timer);
  timer = setTimeout(write, Math.max(0, last + PAUSE - Date.now()));
  if (Date.now() >= last + PAUSE) write();
};

addEventListener("pagehide", write);
