import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import { NestedWrite, readPastWrite } from "./errors.ts";

/**
 * Finds, while a write runs, what should have gone through its tx: a write, which would wait for itself, and a read,
 * which would not see what the write has done, nor what others have done that share its commit.
 */
export interface Nesting {
  /** Throws NestedWrite when called inside a write. */
  refuseWrite(): void;
  /** Throws a Defect when called inside a write. */
  refuseRead(sql: string): void;
  /** `fn`, to be called later and from anywhere, as if from here, and known as a write while it runs. */
  bind<A, T>(fn: (argument: A) => Promise<T>): (argument: A) => Promise<T>;
}

export function makeNesting(): Nesting {
  const writes = new AsyncLocalStorage<{ isOpen: boolean }>();
  const isInside = () => writes.getStore()?.isOpen === true;
  return {
    refuseWrite() {
      if (isInside()) throw new NestedWrite();
    },
    refuseRead(sql) {
      if (isInside()) throw readPastWrite(sql);
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
