import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    name: "@effect-memory/platform",
    include: ["test/**/*.test.ts"],
    sequence: { concurrent: true },
    // Generous: timing is measured in benchmarks, and a busy machine is no failure.
    testTimeout: 60_000
  }
})
