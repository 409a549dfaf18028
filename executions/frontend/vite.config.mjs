import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// Fixed names: Django's manifest storage adds the hashes, and imports of hashed files would break.
export default defineConfig({
  plugins: [react()],
  base: "./",
  publicDir: false,
  build: {
    outDir: process.env.OUT ?? "../static/executions/studio",
    emptyOutDir: true,
    target: "es2022",
    sourcemap: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: "LICENSES.md" },
    chunkSizeWarningLimit: 1200,
    rolldownOptions: {
      input: { studio: "src/main.tsx" },
      output: {
        entryFileNames: "[name].js",
        chunkFileNames: "[name].js",
        assetFileNames: "[name][extname]",
      },
    },
  },
  test: { environment: "node", include: ["tests/**/*.test.ts"] },
});
