import { second } from "../../kernel/clock.ts";
import type { Terminal } from "./terminal.ts";

const everyMs = 2 * second;
/** Clears the screen and moves the cursor to the top. */
const clear = "\u001b[2J\u001b[H";

/** Repeats an output until the program is stopped; in script output, one record after another. */
export async function watch(terminal: Terminal, print: () => Promise<unknown>): Promise<void> {
  const { stdout } = terminal.surroundings;
  const stopping = new AbortController();
  const stop = () => {
    stopping.abort();
  };
  process.once("SIGINT", stop).once("SIGTERM", stop);
  // The reader of a pipe has closed it: `till … --watch | head`.
  stdout.once("close", stop).once("error", stop);
  try {
    while (!stopping.signal.aborted) {
      if (terminal.form === "people" && stdout.isTTY === true) stdout.write(clear);
      await print();
      await pause(everyMs, stopping.signal);
    }
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
    stdout.off("close", stop).off("error", stop);
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
