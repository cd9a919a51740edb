// Bundle the functions of hyparquet that the site uses into one file, and record its version and digest
import { createHash } from "node:crypto";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildSync } from "esbuild";

const out = process.argv[2];
const script = join(out, "hyparquet.js");
const made = JSON.parse(readFileSync("node_modules/hyparquet/package.json"));
buildSync({
  entryPoints: ["entry.js"],
  outfile: script,
  bundle: true,
  format: "esm",
  minify: true,
  target: "es2022",
  banner: { js: `/* hyparquet ${made.version}, MIT licence: see LICENSE. Bundled by make hyparquet. */` },
});
copyFileSync("node_modules/hyparquet/LICENSE", join(out, "LICENSE"));
const sha256 = createHash("sha256").update(readFileSync(script)).digest("hex");
const record = { package: "hyparquet", version: made.version, licence: made.license, sha256 };
writeFileSync(join(out, "hyparquet.json"), `${JSON.stringify(record, null, 2)}\n`);
