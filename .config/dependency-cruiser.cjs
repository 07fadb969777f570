// The import rules of docs/architecture.md. Each comment says what to do about a violation.
const { readFileSync } = require("node:fs");
const path = require("node:path");

/** The folders of the features, in the order of src/features/index.ts. */
const features = [
  ...readFileSync(path.join(__dirname, "../src/features/index.ts"), "utf8").matchAll(
    /from "\.\/([\w-]+)\/api\.ts"/g,
  ),
].map(([, folder]) => folder);

/** A feature imports only features listed before it in src/features/index.ts. */
const orderRules = features.map((feature, place) => ({
  name: `order-of-${feature}`,
  comment: `${feature} may import only features listed before it in src/features/index.ts: let it give a hook of src/app.ts`,
  severity: "error",
  from: { path: `^src/features/${feature}/` },
  to: { path: `^src/features/(${features.slice(place + 1).join("|") || "$never"})/` },
}));

module.exports = {
  forbidden: [
    {
      name: "no-cycles",
      // Types alone make no cycle when the program runs: src/app.ts takes the types of the features' hooks, and features take
      // the type of the app.
      comment: "Break the cycle: merge the two files, or move what both need to a third",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "kernel-imports-nothing",
      comment: "The kernel is pure: move code that needs more to platform",
      severity: "error",
      from: { path: "^src/kernel/" },
      to: { path: "^src/", pathNot: "^src/kernel/" },
    },
    {
      name: "platform-knows-no-feature",
      comment: "Platform mechanisms know no feature: pass in what they need",
      severity: "error",
      from: { path: "^src/platform/" },
      to: { path: "^src/(app|http|features|cli|compose|server)" },
    },
    {
      name: "http-knows-no-feature",
      comment: "src/http defines operations in general and knows no single one",
      severity: "error",
      from: { path: "^src/http/" },
      to: { path: "^src/(features|cli|compose|server)" },
    },
    {
      name: "nobody-imports-the-top",
      comment: "Only compose, server and cli may import everything",
      severity: "error",
      from: { path: "^src/(kernel|platform|http|features)/" },
      to: { path: "^src/(compose|server|cli)" },
    },
    ...orderRules,
    {
      name: "client-stands-alone",
      comment: "The client runs in other people's programs: it imports nothing but its own files",
      severity: "error",
      from: { path: "^src/client/" },
      to: { pathNot: "^src/client/" },
    },
    {
      name: "nobody-imports-the-client",
      comment: "The program does not call itself",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/client/" },
      to: { path: "^src/client/" },
    },
    {
      name: "sequelize-at-home",
      comment: "Only src/platform/database uses Sequelize and its drivers",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/platform/database/" },
      to: { path: "node_modules/(sequelize|sqlite3|pg)/" },
    },
    {
      name: "koa-at-home",
      comment: "Only src/server.ts and src/http use Koa",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/(server\\.ts|http/)" },
      to: { path: "node_modules/(koa|@koa|koa-body)/" },
    },
    {
      name: "commander-at-home",
      comment: "Only the command line uses commander",
      severity: "error",
      from: { path: "^src/", pathNot: ["^src/cli/", "^src/features/.*commands\\.ts$"] },
      to: { path: "node_modules/(commander|@inquirer|cli-table3)/" },
    },
    {
      name: "stores-behind-services",
      comment:
        "Operations, commands and rules do not use the store: call a function of the feature",
      severity: "error",
      from: { path: "^src/features/.*(api|commands|rules|records)\\.ts$" },
      to: { path: "^src/features/.*/(store|table)\\.ts$", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "no-development-packages",
      comment: "Packages that src/ imports belong in dependencies",
      severity: "error",
      from: { path: "^src/" },
      to: {
        dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"],
        dependencyTypesNot: ["type-only"],
      },
    },
    {
      name: "src-never-imports-test",
      comment: "The program does not import its tests",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^test/" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "types", "default"],
    },
  },
};
