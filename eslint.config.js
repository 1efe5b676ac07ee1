import js from "@eslint/js";
import globals from "globals";
import tseslint from "typescript-eslint";

const PAGE = ["web/**/*.js"];
const WORKER = ["worker.js", "py/aiogpu/**/*.js"];
const NODE = ["{bench,tests}/**/*.{js,mjs}", "tools/**/*.mjs", "eslint.config.js"];

// What npm's webgpu package adds to Node's globals.
const WEBGPU = ["GPUBufferUsage", "GPUMapMode", "GPUShaderStage", "GPUTextureUsage"];

/** Types come from the tsconfig that the files belong to. */
const typed = (files, project) => ({
  files,
  extends: [tseslint.configs.recommendedTypeChecked],
  languageOptions: {
    parserOptions: { project, tsconfigRootDir: import.meta.dirname },
  },
  rules: {
    // The compiler knows which names exist.
    "no-undef": "off",
  },
});

export default tseslint.config(
  { ignores: ["build/", "dist/", ".venv/", "node_modules/"] },
  { linterOptions: { reportUnusedDisableDirectives: "error" } },
  js.configs.recommended,
  {
    rules: {
      "no-console": "error",
      eqeqeq: "error",
      "prefer-const": "error",
    },
  },
  typed(PAGE, "./tsconfig.json"),
  typed(WORKER, "./tsconfig.worker.json"),
  { files: ["examples/vite/*.js"], languageOptions: { globals: globals.browser } },
  {
    files: NODE,
    languageOptions: {
      globals: {
        ...globals.node,
        ...Object.fromEntries(WEBGPU.map((name) => [name, "readonly"])),
      },
    },
    rules: { "no-console": "off" },
  },
  {
    files: ["examples/**/*.js"],
    languageOptions: { globals: { ...globals.browser, ...globals.worker } },
  },
);
