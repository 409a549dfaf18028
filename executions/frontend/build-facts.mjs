// Writes BUILD.json beside the bundle, with hashes of the build's sources and results. A test
// computes both again, so it detects a bundle that is older than its sources, even without Node.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";

const out = process.env.OUT ?? "../static/executions/studio";
const ROOTS = ["src", "package-lock.json", "package.json", "tsconfig.json", "vite.config.mjs"];

const files = (path) =>
  statSync(path).isDirectory()
    ? readdirSync(path).flatMap((name) => files(join(path, name)))
    : [path];
const hash = (...parts) =>
  parts.reduce((sum, part) => sum.update(part), createHash("sha256")).digest("hex");

const sources = ROOTS.flatMap(files)
  .map((path) => path.replaceAll("\\", "/"))
  .sort();
const told = sources.flatMap((path) => [path, "\0", readFileSync(path), "\0"]);
const built = files(out)
  .map((path) => relative(out, path))
  .filter((name) => name !== "BUILD.json")
  .sort();
const facts = {
  sources: hash(...told),
  files: Object.fromEntries(built.map((name) => [name, hash(readFileSync(join(out, name)))])),
};
writeFileSync(join(out, "BUILD.json"), `${JSON.stringify(facts, null, 2)}\n`);
