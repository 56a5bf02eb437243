import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    name: "@effect-memory/cli",
    include: ["test/**/*.test.ts"],
    sequence: { concurrent: true }
  }
})
