import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { runCommandLine } from "../../src/cli/run.ts";
import { builtProgram } from "./built.ts";
import { endWithThisProcess } from "./guard.ts";
import { until } from "./until.ts";

/** How a run of the command line came out. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** What a person at a terminal types, by a part of the question that it answers. Without it nobody is there. */
  readonly person?: readonly (readonly [question: string, keys: string])[];
}

/** Runs `till` in this process, without a terminal and with nothing but the given environment. */
export async function till(words: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const { env = {}, stdin = "", person } = options;
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const [out, err] = [collect(stdout), collect(stderr)];
  const isTTY = person !== undefined;
  const keyboard = isTTY ? sit(person, stderr) : Readable.from([Buffer.from(stdin)]);
  const code = await runCommandLine(words, {
    stdin: Object.assign(keyboard, { isTTY }),
    stdout: Object.assign(stdout, { isTTY }),
    // As with the process's own, what is piped into it does not end it.
    stderr: Object.assign(stderr, { isTTY, _isStdio: true }),
    env,
  });
  // What was written last is read now.
  await new Promise((resolve) => setImmediate(resolve));
  return { code, stdout: out(), stderr: err() };
}

/** Somebody who waits for each question and types. */
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
    setImmediate(() => keyboard.write(next[1]));
  });
  return keyboard;
}

function collect(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString("utf8");
}

const password = "a long password of the tests 7";

/** Makes a store with its platform organization and admin; gives what `till init` printed. */
export async function init(words: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const given = ["--admin-email", "ada@example.com", "--admin-name", "Ada"];
  return till(
    ["init", ...given, "--organization", "Shop", "--password-stdin", "--json", ...words],
    { stdin: `${password}\n`, ...options },
  );
}

/** Folders whose names have a space, as on many a desk; gone after the suite. */
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

/** `till` as a process of its own. */
export interface TillProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  stdout(): string;
  stderr(): string;
  /** The first line of standard output that fits; throws when the process ends before. */
  line(pattern: RegExp): Promise<string>;
  exit(): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

const patienceMs = 90_000;

/** Starts `till` with nothing of this environment but where programs are; `own` are ended after the suite. */
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
        // No test asks a public source of rates.
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
      const found = await until(
        String(pattern),
        find,
        (line) => line !== null || isOver(),
        patienceMs,
      );
      if (found === null) throw new Error(`till ended before ${String(pattern)}: ${stderr()}`);
      return found;
    },
    exit: () => ended,
  };
}
