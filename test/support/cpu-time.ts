import { spawnSync } from "node:child_process";

/**
 * Returns the processor time of this process and all its threads so far, in milliseconds. Unlike the time that passes, it
 * does not grow while other programs run, so it is what a test may limit.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Runs a Node program to its end, and returns its processor time in milliseconds, of all its threads. */
export function cpuMsOfProgram(
  words: readonly string[],
  options: {
    readonly cwd?: string;
    readonly env?: NodeJS.ProcessEnv;
    /** The exit codes that it may end with. */
    readonly allowed?: readonly number[];
  } = {},
): number {
  const { allowed = [0], ...spawning } = options;
  const timed = 'TIMEFORMAT="%3U %3S"; time "$@" > /dev/null';
  const { status, stderr } = spawnSync(
    "bash",
    ["--norc", "-c", timed, "bash", process.execPath, ...words],
    { ...spawning, encoding: "utf8" },
  );
  if (!allowed.includes(status ?? -1)) throw new Error(`${words.join(" ")}: ${stderr}`);
  const [user = 0, system = 0] = (stderr.trim().split("\n").at(-1) ?? "").split(" ").map(Number);
  return (user + system) * 1_000;
}
