// Two values of each row with their intervals: A as a filled circle, B as an open square.
const SVG = "http://www.w3.org/2000/svg";
const ROW = 44;
const LINE = 14;
const MARGIN = 5;

const shape = (name, attributes, text = "") => {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
};

const known = (values) => values.filter((value) => typeof value === "number");

// round steps of 1, 2 or 5, at most six of them
const steps = (low, high) => {
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const first = Math.floor(low / step);
  const last = Math.ceil(high / step);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
};

const percent = (unit) => unit === "share" || unit === "probability";
const tick = (value, unit) => (percent(unit) ? `${Number((100 * value).toPrecision(6))}%` : String(value));

const mark = (letter, x, y) =>
  letter === "A"
    ? shape("circle", { class: "point-a", cx: x, cy: y, r: 4.5 })
    : shape("rect", { class: "point-b", x, y: y - 4.5, width: 9, height: 9, transform: "translate(-4.5 0)" });

const estimate = (letter, row, y, at) => {
  if (!row || typeof row.value !== "number") return [];
  const ends = known([row.low, row.high]);
  const kind = letter.toLowerCase();
  const line = ends.length === 2 ? [shape("line", { class: `line-${kind}`, x1: at(ends[0]), x2: at(ends[1]), y1: y, y2: y })] : [];
  return [...line, mark(letter, at(row.value), y)];
};

// lines of at most 44 characters, which fit a phone
const lines = (label) => label.match(/.{1,44}(?:\s|$)|\S+/g) ?? [""];

export const chart = (result, rows) => {
  const values = known(rows.flatMap(([, a, b]) => [a, b].flatMap((row) => (row ? [row.value, row.low, row.high] : []))));
  const [least, most] = [Math.min, Math.max].map((end) => end(result.neutral, ...values));
  const ticks = steps(least, most > least ? most : 1);
  const [low, high] = [ticks[0], ticks[ticks.length - 1]];
  const at = (value) => `${MARGIN + ((100 - 2 * MARGIN) * (value - low)) / (high - low)}%`;
  const labels = rows.map(([label]) => lines(label));
  const more = LINE * (Math.max(1, ...labels.map((label) => label.length)) - 1);
  const height = rows.length * (ROW + more) + 24;
  const drawing = shape("svg", { class: "chart fluid pairs", role: "img", height, "aria-label": `${result.title}, both models; the table below has the values` });
  for (const value of ticks) {
    drawing.append(shape("text", { class: "tick middle", x: at(value), y: height - 4 }, tick(value, result.unit)));
  }
  rows.forEach(([, a, b], i) => {
    const top = i * (ROW + more) + more;
    labels[i].toReversed().forEach((line, j) => {
      drawing.append(shape("text", { x: `${MARGIN}%`, y: top + LINE * (1 - j) }, line.trim()));
    });
    for (const value of ticks) {
      const kind = value === result.neutral ? "reference" : "grid";
      drawing.append(shape("line", { class: kind, x1: at(value), x2: at(value), y1: top + 18, y2: top + 41 }));
    }
    drawing.append(...estimate("A", a, top + 23, at), ...estimate("B", b, top + 35, at));
  });
  return drawing;
};
