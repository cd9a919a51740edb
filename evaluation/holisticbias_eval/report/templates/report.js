"use strict";
(() => {
  const table = document.getElementById("terms");
  const form = document.querySelector(".filter");
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => ({
    row,
    text: row.textContent.toLowerCase(),
    term: row.cells[0].querySelector("bdi").textContent,
  }));

  const filter = () => {
    const words = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const { value: axis } = form.elements.axis;
    const { value: preference } = form.elements.preference;
    let shown = 0;
    for (const { row, text } of rows) {
      row.hidden =
        !words.every((word) => text.includes(word)) ||
        (axis !== "" && row.dataset.axis !== axis) ||
        (preference !== "" && row.dataset.preference !== preference);
      shown += row.hidden ? 0 : 1;
    }
    form.querySelector("output").textContent = `${shown} of ${rows.length} descriptors`;
  };

  const key = (entry, column) => {
    const cell = entry.row.cells[column];
    if (column === 0) return entry.term;
    return cell.classList.contains("number") ? Number(cell.dataset.value ?? NaN) : cell.textContent.trim();
  };

  const compare = (a, b, sign) => {
    if (typeof a === "string") return sign * a.localeCompare(b, "en", { sensitivity: "base" });
    if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
    return sign * (a - b);
  };

  const sort = (heading, column) => {
    const sign = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
    const keyed = rows.map((entry) => [key(entry, column), entry.row]);
    keyed.sort((a, b) => compare(a[0], b[0], sign));
    body.append(...keyed.map(([, row]) => row));
  };

  [...table.tHead.rows[0].cells].forEach((heading, column) => {
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
})();
