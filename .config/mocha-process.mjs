// Notes of each process of npm test for .config/test.mjs: the times of its files, and resources that they have left open.
import { appendFileSync } from "node:fs";
import { relative } from "node:path";

const {
  MOCHA_WORKER_ID: worker,
  TILL_TEST_COMPILED: compiled,
  TILL_TEST_LEFT: left,
  TILL_TEST_TIMES: times,
} = process.env;

/** Enough for helpers of helpers. Whole stacks make every error slow. */
Error.stackTraceLimit = 30;

/** Kinds of resources that may be open: the channel to the parent, idle connections, and what the next turn ends. */
const ending = new Set(["Immediate", "PipeWrap", "TCPSocketWrap"]);

/** Fails the test that runs, as mocha does without parallel processes. It forgets listeners after each file. */
function failTest(reason) {
  throw reason;
}

// Under c8, this process notes its coverage when it ends. The many programs that tests start would add little, slowly.
delete process.env.NODE_V8_COVERAGE;

let startedAt = 0;
let openBefore = 0;
/** The files after which more was open than before. */
const suspects = [];

export const mochaHooks = {
  beforeAll() {
    if (worker !== undefined) process.on("unhandledRejection", failTest);
    startedAt = performance.now();
    openBefore = openResources().length;
  },
  afterAll() {
    const milliseconds = Math.round(performance.now() - startedAt);
    const [suite] = this.test.parent.suites;
    if (suite === undefined) return;
    const file = relative(compiled, suite.file).replace(/\.mjs$/, ".ts");
    appendFileSync(times, `${milliseconds}\t${file}\n`);
    if (openResources().length > openBefore) suspects.push(file);
  },
};

// Without parallel processes, what is open keeps mocha itself from ending.
if (worker !== undefined) {
  process.once("exit", () => {
    const open = openResources();
    if (open.length === 0) return;
    appendFileSync(left, `${open.join(", ")}, perhaps by ${suspects.join(", ")}\n`);
  });
}

function openResources() {
  return process.getActiveResourcesInfo().filter((kind) => !ending.has(kind));
}
