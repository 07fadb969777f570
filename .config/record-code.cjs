// Keeps the shipped tables as the built program parses them (src/platform/config/files/kept-tables.ts). Then runs
// commands that read, in this process, and keeps the code that V8 made of dist/light.cjs for them: see bin/light.cjs. A command that is missing here compiles the rest of its functions each time that it runs.
// Usage: node .config/record-code.cjs FOLDER
const { mkdtempSync, renameSync, rmSync, writeFileSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const { PassThrough, Readable } = require("node:stream");
const { setFlagsFromString } = require("node:v8");
const { codeFile, evaluateLight } = require("../bin/light.cjs");

const commands = [
  ...["--help", "org list", "user list", "session list", "key list", "wallet list"],
  ...["customer list", "invoice list", "link list", "refund list", "receipt keys"],
  ...["payments list", "payments inbox", "payments claims", "payments policy"],
  ...["queue list", "queue failed", "webhook endpoints", "webhook deliveries"],
  ...["billing plans", "billing invoices", "billing subscriptions", "billing verify"],
  ...["billing credits", "billing discounts", "billing adjustments", "rates list", "chain status"],
  ...["analytics summary", "analytics charts", "audit list", "org list --json"],
];

const [, , folder] = process.argv;
const store = mkdtempSync(join(tmpdir(), "till-build-"));

async function run(program, words, input = "") {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const stdin = Readable.from([Buffer.from(input)]);
  const env = { TILL_DATA_DIR: store, TILL_RATES: "off", TILL_NETWORKS: "sandbox" };
  const whole = () => Promise.resolve(wholeCode);
  const code = await program.runCommandLine(words, { stdin, stdout, stderr, env }, "light", whole);
  if (code === 0) return;
  throw new Error(`till ${words.join(" ")}: exit code ${code}\n${stderr.read() ?? ""}`);
}

/** The exit code of a command that needs more than dist/light.cjs has. */
const wholeCode = 255;

async function record() {
  const whole = await import(join(folder, "main.js"));
  keep(join(folder, "tables.json"), await whole.keepShippedTables());
  const admin = ["--admin-email", "ada@example.com", "--admin-name", "Ada"];
  const wallet = ["--wallet", `sandbox:0x${"1".repeat(40)}`];
  const init = ["init", ...admin, ...wallet, "--organization", "Shop", "--password-stdin"];
  await run(
    { runCommandLine: (words, terminal) => whole.runCommandLine(words, terminal) },
    init,
    "a password of the build",
  );

  const { exports: light, script } = evaluateLight(folder);
  for (const words of commands) await run(light, words.split(" "));
  // Flags of V8 are part of the code's identity.
  setFlagsFromString("--flush-bytecode");
  keep(codeFile(folder), script.createCachedData());
}

/** Writes a file that appears at once: programs of the folder may run. */
function keep(file, content) {
  writeFileSync(`${file}.${process.pid}`, content);
  renameSync(`${file}.${process.pid}`, file);
}

// V8 would drop the code of functions that were not called for a while.
setFlagsFromString("--no-flush-bytecode");
void record().finally(() => {
  rmSync(store, { recursive: true });
});
