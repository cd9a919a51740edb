// Lighthouse on one page of each kind of a built site: node check.mjs SITE [PAGE...]
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { launch } from "chrome-launcher";
import lighthouse from "lighthouse";

const LEAST = 95;
const CATEGORIES = ["performance", "accessibility", "best-practices"];
const PAGES = [
  "index.html",
  "terms/index.html",
  "terms/age.elderly.html",
  "releases/2.0.0.html",
  "releases/1.0.0-to-2.0.0.html",
  "models/index.html",
  "models/by-measure/likelihood-bias-on-1.0.0.html",
  "models/by-name/embedded.html",
  "models/compare.html",
];
const TYPES = { ".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript", ".json": "application/json", ".svg": "image/svg+xml" };

const [folder, ...asked] = process.argv.slice(2);
if (folder === undefined) {
  console.error("usage: node check.mjs SITE [PAGE...]");
  process.exit(2);
}
const root = resolve(folder);

// compressed, as GitHub Pages serves a site
const server = createServer(async (request, response) => {
  const path = join(root, normalize(decodeURIComponent(new URL(request.url, "http://site").pathname)));
  try {
    const content = await readFile(path);
    const type = TYPES[extname(path)] ?? "application/octet-stream";
    response.writeHead(200, { "Content-Type": type, "Content-Encoding": "gzip", "Cache-Control": "max-age=600" });
    response.end(gzipSync(content));
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const address = `http://127.0.0.1:${server.address().port}`;

const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const chrome = await launch({ chromeFlags: flags });
let failed = false;
for (const page of asked.length ? asked : PAGES) {
  const { lhr } = await lighthouse(`${address}/${page}`, { port: chrome.port, onlyCategories: CATEGORIES, logLevel: "error" });
  const scores = CATEGORIES.map((name) => Math.round(100 * (lhr.categories[name].score ?? 0)));
  const bytes = Math.round((lhr.audits["total-byte-weight"].numericValue ?? 0) / 1000);
  console.log(`${scores.map((score) => String(score).padStart(3)).join(" ")}  ${String(bytes).padStart(4)} kB  ${page}`);
  if (scores.some((score) => score < LEAST)) {
    failed = true;
    const wrong = Object.values(lhr.audits).filter((audit) => audit.score !== null && audit.score < 0.9);
    for (const { id, displayValue } of wrong) console.log(`     ${id}${displayValue ? `: ${displayValue}` : ""}`);
  }
}
await chrome.kill();
server.close();
if (failed) console.log(`performance, accessibility and best practices: each must be at least ${LEAST}`);
process.exit(failed ? 1 : 0);
