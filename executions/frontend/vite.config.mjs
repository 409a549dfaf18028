import { readFileSync } from "node:fs";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// There are two pages, the studio and the monitor, and one chunk for the code that both use. The
// entry files have fixed names, because Django's templates name them and its manifest storage adds
// hashes to these names. The storage does not rewrite imports in scripts, so the shared chunk has
// its own hash: a page never loads the shared chunk of another build. Each language except English
// is also a chunk, which a page loads only in that language.
const PAGES = ["studio", "monitor"];

// The build replaces the catalogue's keys (src/words) with numbers, because the keys would be a
// third of the size of each language.
const KEY = /"([a-z]+\.[A-Za-z0-9]+)"/g;
const keys = [...readFileSync("src/words/en.ts", "utf8").matchAll(KEY)].map(([, key]) => key);
const numbers = new Map(keys.map((key, at) => [key, at]));
const numberedKeys = {
  name: "numbered-keys",
  apply: "build",
  enforce: "pre",
  transform: (code, id) =>
    /\/src\/.*\.tsx?$/.test(id)
      ? code.replace(KEY, (quoted, key) => numbers.get(key) ?? quoted)
      : null,
};

export default defineConfig({
  plugins: [numberedKeys, react()],
  base: "./",
  publicDir: false,
  build: {
    outDir: process.env.OUT ?? "../static/executions/studio",
    emptyOutDir: true,
    target: "es2022",
    sourcemap: false,
    cssCodeSplit: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: "LICENSES.md" },
    chunkSizeWarningLimit: 1200,
    rolldownOptions: {
      input: { studio: "src/main.tsx", monitor: "src/monitor.tsx" },
      output: {
        entryFileNames: "[name].js",
        chunkFileNames: ({ isDynamicEntry }) =>
          isDynamicEntry ? "language-[name]-[hash].js" : "shared-[hash].js",
        assetFileNames: ({ names: [name] }) =>
          PAGES.some((page) => name === `${page}.css`) ? "[name][extname]" : "shared[extname]",
      },
    },
  },
  test: { environment: "node", include: ["tests/**/*.test.ts"] },
});
