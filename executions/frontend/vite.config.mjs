import { readFileSync } from "node:fs";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// Two pages, the studio and the monitor, and one chunk of what both use. Pages name the files that
// they load, and Django's manifest storage adds hashes to these. It does not look into scripts, so
// the chunk that they import has a hash of its own: no page meets that of another build. Each
// language but English is a chunk, too, which a page fetches where it is in that language.
const PAGES = ["studio", "monitor"];

// In the bundle the keys of the catalogue (src/words) are numbers: their names would be a third of
// each language.
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
