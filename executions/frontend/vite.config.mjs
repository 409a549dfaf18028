import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// Two pages, the studio and the monitor, and one chunk of what both use. Pages name the files that
// they load, and Django's manifest storage adds hashes to these. It does not look into scripts, so
// the chunk that they import has a hash of its own: no page meets that of another build.
const PAGES = ["studio", "monitor"];

export default defineConfig({
  plugins: [react()],
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
        chunkFileNames: "shared-[hash].js",
        assetFileNames: ({ names: [name] }) =>
          PAGES.some((page) => name === `${page}.css`) ? "[name][extname]" : "shared[extname]",
      },
    },
  },
  test: { environment: "node", include: ["tests/**/*.test.ts"] },
});
