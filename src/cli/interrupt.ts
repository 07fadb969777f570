import { Interrupted } from "../http/declare/command.ts";

/**
 * Runs long work with a signal that Ctrl-C and SIGTERM abort, so that the work can remove what it has begun. A second
 * Ctrl-C ends the program at once.
 */
export async function interruptibly<T>(
  work: (signal: AbortSignal) => Promise<T>,
  stopping = new AbortController(),
): Promise<T> {
  const stop = () => {
    stopping.abort(new Interrupted("Nothing was changed."));
  };
  process.once("SIGINT", stop).once("SIGTERM", stop);
  try {
    return await work(stopping.signal);
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
  }
}

/** Completes short work that must not stop halfway, although Ctrl-C or SIGTERM asks for it. */
export async function uninterrupted<T>(work: () => Promise<T>): Promise<T> {
  const wait = () => undefined;
  process.on("SIGINT", wait).on("SIGTERM", wait);
  try {
    return await work();
  } finally {
    process.off("SIGINT", wait).off("SIGTERM", wait);
  }
}
