"use strict";
(() => {
  const MOST_CHOICES = 40;
  const LONGEST_CHOICE = 60;

  const compare = (a, b, sign) => {
    if (typeof a === "string") return sign * a.localeCompare(b, "en", { sensitivity: "base" });
    if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
    return a === b ? 0 : sign * (a < b ? -1 : 1);
  };

  const chooser = (heading, values) => {
    const label = document.createElement("label");
    const select = document.createElement("select");
    select.append(new Option("all", ""), ...values.map((value) => new Option(value, value)));
    label.append(`${heading} `, select);
    return [label, select];
  };

  const setUp = (form) => {
    const table = document.getElementById(form.dataset.table);
    const body = table.tBodies[0];
    const headings = [...table.tHead.rows[0].cells];
    const isNumber = (column) => headings[column].classList.contains("number");
    const own = (cell) => (cell.querySelector("summary") ?? cell).textContent.trim();
    const rows = [...body.rows].map((row) => ({
      row,
      text: row.textContent.toLowerCase(),
      cells: [...row.cells].map(own),
    }));
    const name = headings[0].textContent.trim().toLowerCase();
    const choices = [];

    const filter = () => {
      const words = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const { row, text, cells } of rows) {
        row.hidden =
          !words.every((word) => text.includes(word)) ||
          choices.some(([column, select]) => select.value !== "" && cells[column] !== select.value);
        shown += row.hidden ? 0 : 1;
      }
      form.querySelector("output").textContent = `${shown} of ${rows.length} rows`;
    };

    const sort = (heading, column) => {
      const sign = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of headings) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      const number = (row) => Number((row.cells[column].dataset.value ?? "nan").replace("inf", "Infinity"));
      const keyed = rows.map(({ row, cells }) => [isNumber(column) ? number(row) : cells[column], row]);
      keyed.sort((a, b) => compare(a[0], b[0], sign));
      body.append(...keyed.map(([, row]) => row));
    };

    headings.forEach((heading, column) => {
      const values = [...new Set(rows.map(({ cells }) => cells[column]))];
      const isChoice = values.length > 1 && values.length <= MOST_CHOICES && values.every((v) => v.length <= LONGEST_CHOICE);
      if (column > 0 && !isNumber(column) && isChoice && values.length < rows.length) {
        const [label, select] = chooser(heading.textContent, values);
        form.querySelector("output").before(label);
        choices.push([column, select]);
      }
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      button.addEventListener("click", () => sort(heading, column));
      heading.append(button);
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", filter);
    form.hidden = false;
    filter();
  };

  for (const form of document.querySelectorAll(".filter")) setUp(form);
})();
