import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { runCommandLine } from "../../../src/cli/run.ts";
import { builtProgram } from "./built.ts";
import { endWithThisProcess } from "./guard.ts";
import { until } from "../until.ts";

/** The result of a command-line run. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** The columns of the terminal to which it writes. */
  readonly columns?: number;
  /** The keys that a user types, each with a part of the question that they answer. Without them no user is present. */
  readonly person?: readonly (readonly [
    question: string,
    keys: string | (() => Promise<string>),
  ])[];
}

/** Runs `till` in this process, without a terminal and with only the given environment. */
export async function till(words: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const { env = {}, stdin = "", person, columns } = options;
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const [out, err] = [collect(stdout), collect(stderr)];
  const isTTY = person !== undefined;
  const keyboard = isTTY ? sit(person, stderr) : Readable.from([Buffer.from(stdin)]);
  const screen = columns === undefined ? { isTTY } : { isTTY: true, columns };
  const code = await runCommandLine(words, {
    stdin: Object.assign(keyboard, { isTTY }),
    stdout: Object.assign(stdout, screen),
    // Like the process's own stream, it is not ended by a pipe.
    stderr: Object.assign(stderr, { ...screen, _isStdio: true }),
    env,
  });
  // Lets the output that was written last be read.
  await new Promise((resolve) => setImmediate(resolve));
  return { code, stdout: out(), stderr: err() };
}

/** Simulates a user who waits for each question and types. */
function sit(person: NonNullable<RunOptions["person"]>, screen: PassThrough): Readable {
  const keyboard = Object.assign(new PassThrough(), { setRawMode: () => keyboard });
  const answers = [...person];
  let seen = "";
  screen.on("data", (chunk: Buffer) => {
    seen += chunk.toString("utf8");
    const [next] = answers;
    if (next === undefined || !seen.includes(next[0])) return;
    answers.shift();
    seen = "";
    const [, keys] = next;
    const answer = async () => keyboard.write(typeof keys === "string" ? keys : await keys());
    setImmediate(() => void answer());
  });
  return keyboard;
}

function collect(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString("utf8");
}

/** The password of the admin of stores that `init` makes. */
export const password = "a long password of the tests 7";

/** The command that creates a store with its platform organization and admin, whose password it reads. */
export const initWords = [
  ...["init", "--admin-email", "ada@example.com", "--admin-name", "Ada"],
  ...["--organization", "Shop", "--password-stdin", "--json"],
];

/** Creates a store with its platform organization and admin; returns the output of `till init`. */
export async function init(words: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  return till([...initWords, ...words], { stdin: `${password}\n`, ...options });
}

/** Provides folders with a space in their names, removed after the suite. */
export function useFolders(): { make(): Promise<string> } {
  const made: string[] = [];
  after(async () => {
    await Promise.all(made.map((path) => rm(path, { recursive: true, force: true })));
  });
  return {
    async make() {
      const folder = await mkdtemp(join(tmpdir(), "till cli "));
      made.push(folder);
      return folder;
    },
  };
}

/** `till` in a separate process. */
export interface TillProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  stdout(): string;
  stderr(): string;
  /** Returns the first matching line of standard output; throws if the process ends before. */
  line(pattern: RegExp): Promise<string>;
  exit(): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

/** Starts `till` with no environment except PATH; all of these processes are ended after the suite. */
export function useProcesses(): {
  start(words: readonly string[], env?: Readonly<Record<string, string>>): TillProcess;
} {
  const own: ChildProcess[] = [];
  after(() => {
    for (const child of own) if (child.exitCode === null) child.kill("SIGKILL");
  });
  return {
    start(words, env = {}) {
      const { PATH = "" } = process.env;
      const child = spawn(process.execPath, [builtProgram(), ...words], {
        // Tests make no requests to public sources of rates.
        env: { PATH, TILL_RATES: "off", ...env },
        stdio: ["ignore", "pipe", "pipe"],
      });
      endWithThisProcess(child);
      own.push(child);
      return watch(child);
    },
  };
}

function watch(child: ChildProcess): TillProcess {
  if (child.stdout === null || child.stderr === null) throw new Error("the process has no output");
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once("close", (code, signal) => {
      resolve({ code, signal });
    });
  });
  return {
    child,
    pid: child.pid ?? 0,
    stdout,
    stderr,
    async line(pattern) {
      const find = () =>
        stdout()
          .split("\n")
          .find((line) => pattern.test(line)) ?? null;
      const isOver = () => child.exitCode !== null || child.signalCode !== null;
      const found = await until(String(pattern), find, (line) => line !== null || isOver());
      if (found === null) throw new Error(`till ended before ${String(pattern)}: ${stderr()}`);
      return found;
    },
    exit: () => ended,
  };
}
