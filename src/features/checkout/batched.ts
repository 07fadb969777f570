/**
 * Returns a function that reads one key. Keys that are asked for while a read runs, or in one turn of the event loop,
 * are read together by the next one. So a read begins after each of its keys was asked for, and the results are as fresh
 * as if each key had been read alone.
 */
export function batchReads<R>(
  read: (keys: readonly string[]) => Promise<R>,
  batchMax: number,
): (key: string) => Promise<R> {
  let next: { readonly keys: Set<string>; readonly result: Promise<R> } | null = null;
  /** Ends with the last read, so that one runs at a time; never rejects. */
  let running: Promise<unknown> = Promise.resolve();

  function begin(keys: Set<string>): Promise<R> {
    const result = running
      .then(() => new Promise((resolve) => setImmediate(resolve)))
      .then(() => {
        if (next?.keys === keys) next = null;
        return read([...keys]);
      });
    running = result.catch(() => undefined);
    return result;
  }

  return (key) => {
    if (next === null || next.keys.size >= batchMax) {
      const keys = new Set<string>();
      next = { keys, result: begin(keys) };
    }
    next.keys.add(key);
    return next.result;
  };
}
