import { second } from "../../kernel/clock.ts";
import { isDumb } from "../../platform/config/terminal.ts";
import type { Terminal } from "./terminal.ts";

const everyMs = 2 * second;
/** The alternate screen leaves the shell's lines as they were; lines are cut at the edge instead of wrapped. */
const enter = "\u001b[?1049h\u001b[?25l\u001b[?7l";
const leave = "\u001b[?7h\u001b[?25h\u001b[?1049l";
const [home, clearLine, clearRest] = ["\u001b[H", "\u001b[K", "\u001b[J"];

/**
 * Repeats an output until the program is stopped. On a terminal, each output replaces the previous one in a single
 * write, so that nothing flickers; in script output, one record follows another.
 */
export async function watch(
  terminal: Terminal,
  print: (terminal: Terminal) => Promise<unknown>,
): Promise<void> {
  const { stdout, env } = terminal.surroundings;
  const stopping = new AbortController();
  const stop = () => {
    stopping.abort();
  };
  process.once("SIGINT", stop).once("SIGTERM", stop);
  // The reader of a pipe has closed it: `till … --watch | head`.
  stdout.once("close", stop).once("error", stop);
  const hasScreen = terminal.form === "people" && stdout.isTTY === true && !isDumb(env);
  if (hasScreen) stdout.write(enter);
  try {
    while (!stopping.signal.aborted) {
      if (hasScreen) await printFrame(terminal, print);
      else await print(terminal);
      await pause(terminal, stopping.signal);
    }
  } finally {
    if (hasScreen) stdout.write(leave);
    process.off("SIGINT", stop).off("SIGTERM", stop);
    stdout.off("close", stop).off("error", stop);
  }
}

/** Prints one output from the top of the screen, as many lines as it has. */
async function printFrame(
  terminal: Terminal,
  print: (terminal: Terminal) => Promise<unknown>,
): Promise<void> {
  const { stdout } = terminal.surroundings;
  const lines: string[] = [];
  const add = (text: string) => {
    lines.push(...text.split("\n"));
  };
  await print({ ...terminal, data: add, talk: add });
  const rows = stdout.rows ?? lines.length + 1;
  const shown = lines.length < rows ? lines : [...lines.slice(0, rows - 2), "…"];
  const frame = [...shown, `Every ${String(everyMs / second)} s. Ctrl-C ends.`];
  stdout.write(`${home}${frame.map((line) => `${line}${clearLine}`).join("\n")}${clearRest}`);
}

/** Waits for the next output; a terminal that changes its size gets it at once. */
function pause({ surroundings }: Terminal, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      surroundings.stdout.off("resize", end);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, everyMs);
    surroundings.stdout.once("resize", end);
    signal.addEventListener("abort", end);
  });
}
