import js from "@eslint/js";
import tseslint from "typescript-eslint";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Code that is restricted to one folder, with the alternative. */
const clockOnly = [
  {
    selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
    message: "Time is passed in: take a Clock (src/kernel/clock.ts).",
  },
  {
    selector: "NewExpression[callee.name='Date'][arguments.length=0]",
    message: "Time is passed in: take a Clock (src/kernel/clock.ts).",
  },
];
const urlOnly = [
  {
    selector: "MemberExpression[object.name='URL'][property.name='canParse']",
    message:
      "On Node 20 it is wrong about Latin-1 once compiled: use parseUrl (src/kernel/url.ts).",
  },
];
const randomOnly = [
  {
    selector: "CallExpression[callee.object.name='Math'][callee.property.name='random']",
    message: "Randomness is passed in: take a RandomBytes (src/kernel/id.ts).",
  },
];
const environmentOnly = [
  {
    selector: "MemberExpression[object.name='process'][property.name='env']",
    message: "Settings are declared in src/platform/config.",
  },
];
const moneyOnly = [
  {
    selector: "CallExpression[callee.name='parseFloat']",
    message: "Amounts are bigint: parse with parseMoney (src/kernel/money/money.ts).",
  },
];

const plainProperties = [
  {
    selector: "ObjectExpression > SpreadElement > ObjectExpression",
    message: "Write the properties themselves, without a spread object around them.",
  },
];

export default tseslint.config(
  {
    ignores: [
      "dist/**",
      "coverage/**",
      "release/**",
      "node_modules/**",
      "src/client/generated/**",
      "test/clients/shops/**",
    ],
  },
  js.configs.recommended,
  {
    files: ["src/**/*.ts", "test/**/*.ts"],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { project: "./tsconfig.json", tsconfigRootDir: root } },
    rules: {
      "@typescript-eslint/switch-exhaustiveness-check": [
        "error",
        { considerDefaultExhaustiveForUnions: true },
      ],
      "@typescript-eslint/strict-boolean-expressions": "error",
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-unnecessary-condition": [
        "error",
        { allowConstantLoopConditions: "only-allowed-literals" },
      ],
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_" },
      ],
      "no-console": "error",
      "no-restricted-syntax": [
        "error",
        ...clockOnly,
        ...randomOnly,
        ...environmentOnly,
        ...moneyOnly,
        ...urlOnly,
        ...plainProperties,
      ],
    },
  },
  {
    files: ["src/kernel/clock.ts"],
    rules: {
      "no-restricted-syntax": [
        "error",
        ...randomOnly,
        ...environmentOnly,
        ...moneyOnly,
        ...plainProperties,
      ],
    },
  },
  {
    // It runs in other people's programs.
    files: ["src/client/*.ts"],
    rules: {
      "no-restricted-syntax": [
        "error",
        ...randomOnly,
        ...environmentOnly,
        ...moneyOnly,
        ...plainProperties,
      ],
    },
  },
  {
    files: ["src/platform/config/**/*.ts"],
    rules: {
      "no-restricted-syntax": [
        "error",
        ...clockOnly,
        ...randomOnly,
        ...moneyOnly,
        ...plainProperties,
      ],
    },
  },
  {
    files: ["test/**/*.ts"],
    rules: {
      "no-restricted-syntax": ["error", ...plainProperties],
      "no-console": "off",
      // chai's assertions are property reads.
      "@typescript-eslint/no-unused-expressions": "off",
    },
  },
  {
    files: ["**/*.mjs", "**/*.cjs"],
    rules: { "no-restricted-syntax": ["error", ...plainProperties] },
    languageOptions: {
      globals: { process: "readonly", console: "readonly", URL: "readonly", Buffer: "readonly" },
    },
  },
  {
    // Scripts that run in browsers.
    files: ["src/features/*/pages/**/*.js", "src/api/document/manual/*.js"],
    languageOptions: {
      sourceType: "script",
      globals: Object.fromEntries(
        [
          "AbortController",
          "addEventListener",
          "atob",
          "clearTimeout",
          "crypto",
          "CustomEvent",
          "dispatchEvent",
          "document",
          "DOMParser",
          "Event",
          "EventSource",
          "localStorage",
          "scrollBy",
          "fetch",
          "getSelection",
          "isSecureContext",
          "location",
          "matchMedia",
          "MutationObserver",
          "navigator",
          "Node",
          "performance",
          "removeEventListener",
          "sessionStorage",
          "setInterval",
          "setTimeout",
          "TextDecoder",
          "TextEncoder",
          "URL",
          "window",
        ].map((name) => [name, "readonly"]),
      ),
    },
  },
);
