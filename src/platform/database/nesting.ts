import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import { NestedWrite } from "./errors.ts";

/** Finds a write inside a write, which would wait for itself, before it waits. */
export interface Nesting {
  /** Throws NestedWrite when called inside `run`. */
  refuse(): void;
  /** `fn`, to be called later and from anywhere, as if from here, and known as a write while it runs. */
  bind<A, T>(fn: (argument: A) => Promise<T>): (argument: A) => Promise<T>;
}

export function makeNesting(): Nesting {
  const writes = new AsyncLocalStorage<{ isOpen: boolean }>();
  return {
    refuse() {
      if (writes.getStore()?.isOpen === true) throw new NestedWrite();
    },
    bind(fn) {
      // The lane runs writes of many callers from one loop; each keeps its own caller's context.
      const caller = new AsyncResource("TillWrite");
      return (argument) =>
        caller.runInAsyncScope(async () => {
          const state = { isOpen: true };
          try {
            return await writes.run(state, fn, argument);
          } finally {
            state.isOpen = false;
          }
        });
    },
  };
}
