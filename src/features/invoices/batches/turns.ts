/** Runs work one after another for each key, in the order of arrival. */
export interface Turns {
  take<T>(key: string, work: () => Promise<T>): Promise<T>;
}

export function makeTurns(): Turns {
  /** The end of the last work of each key. */
  const last = new Map<string, Promise<unknown>>();
  return {
    async take(key, work) {
      const before = last.get(key) ?? Promise.resolve();
      const running = before.then(work);
      const ended = running.catch(() => undefined);
      last.set(key, ended);
      try {
        return await running;
      } finally {
        if (last.get(key) === ended) last.delete(key);
      }
    },
  };
}
