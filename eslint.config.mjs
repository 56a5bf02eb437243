import * as effect from "@effect/eslint-plugin"
import eslint from "@eslint/js"
import simpleImportSort from "eslint-plugin-simple-import-sort"
import sortDestructureKeys from "eslint-plugin-sort-destructure-keys"
import tseslint from "typescript-eslint"

export default tseslint.config(
  { ignores: ["**/dist", "**/build", "**/.build", "**/docs", "**/coverage", "**/node_modules"] },
  eslint.configs.recommended,
  tseslint.configs.strict,
  effect.configs.dprint,
  {
    plugins: {
      "simple-import-sort": simpleImportSort,
      "sort-destructure-keys": sortDestructureKeys
    },
    rules: {
      "@effect/dprint": ["error", {
        config: {
          indentWidth: 2,
          lineWidth: 120,
          semiColons: "asi",
          quoteStyle: "alwaysDouble",
          trailingCommas: "never",
          operatorPosition: "maintain",
          "arrowFunction.useParentheses": "force",
          // eslint-plugin-simple-import-sort sorts.
          "module.sortImportDeclarations": "maintain",
          "module.sortExportDeclarations": "maintain"
        }
      }],
      "@typescript-eslint/array-type": ["error", { default: "generic", readonly: "generic" }],
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-namespace": "off",
      "@typescript-eslint/no-non-null-assertion": "off",
      "@typescript-eslint/no-extraneous-class": "off",
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "@typescript-eslint/no-invalid-void-type": "off",
      "@typescript-eslint/unified-signatures": "off",
      "no-console": "error",
      "object-shorthand": "error",
      "require-yield": "off",
      "simple-import-sort/imports": ["error", { groups: [["^\\u0000", "^node:", "^@?\\w", "^\\."]] }],
      "simple-import-sort/exports": "error",
      "sort-destructure-keys/sort-destructure-keys": "error"
    }
  },
  {
    files: ["packages/*/src/**/*.ts"],
    rules: {
      "@effect/no-import-from-barrel-package": ["error", {
        packageNames: ["effect", "@effect/platform", "@effect/cli", "effect-memory", "@effect-memory/formats"]
      }],
      "no-restricted-syntax": ["error", {
        selector: "TryStatement, ThrowStatement",
        message: "Model failure with Effect, Either or Option."
      }]
    }
  },
  {
    files: ["packages/*/{benchmark,examples}/**/*.ts", "packages/*/test/**/*.ts"],
    rules: { "no-console": "off" }
  }
)
