import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [react()],
  build: {
    // Nothing stands in the page itself: its policy lets scripts and pictures come from
    // files alone.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    target: "es2023",
  },
  server: {
    // npm run dev shows the page with the data of a server that runs beside it.
    proxy: Object.fromEntries(
      [
        "/profiles",
        "/sessions",
        "/approvals",
        "/rigs",
        "/usage",
        "/models",
        "/keys",
        "/audit",
        "/doctor",
        "/skills",
        "/mcp-servers",
        "/commands",
        "/tools",
        "/schema",
        "/events",
        "/health",
      ].map((path) => [path, "http://127.0.0.1:7788"]),
    ),
  },
});
