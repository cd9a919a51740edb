// The state of a form in the query of the address, so that a link opens the page as it is

const names = (form) => [...form.elements].filter((element) => element.name).map((element) => element.name);

export const readAddress = (form) => {
  const query = new URLSearchParams(location.search);
  for (const name of names(form)) {
    if (query.has(name)) form.elements[name].value = query.get(name);
    if (form.elements[name].selectedIndex === -1) form.elements[name].selectedIndex = 0;
  }
  return names(form).some((name) => query.has(name));
};

export const writeAddress = (form, skipped = []) => {
  const query = new URLSearchParams();
  for (const name of names(form)) {
    const { value } = form.elements[name];
    if (value && !skipped.includes(name)) query.set(name, value);
  }
  const address = query.size ? `?${query}` : location.pathname;
  history.replaceState(null, "", address + location.hash);
};
