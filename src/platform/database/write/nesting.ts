import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import { NestedWrite, readPastWrite } from "../errors.ts";

/**
 * Detects calls inside a running write that bypass its tx: a nested write would wait for itself until its time limit,
 * and a read would not see the changes of the writes in the open commit.
 */
export interface Nesting {
  /** Throws NestedWrite when called inside a write. */
  refuseWrite(): void;
  /** Throws a Defect when called inside a write. */
  refuseRead(sql: string): void;
  /** Returns `fn` bound to the caller's async context, and marked as a write while it runs. */
  bind<A, T>(fn: (argument: A) => Promise<T>): (argument: A) => Promise<T>;
}

/** A running or ended write in the current async context. */
interface Write {
  readonly nesting: Nesting;
  /** The enclosing write of another database. */
  readonly around: Write | undefined;
  isOpen: boolean;
}

/** Detects nothing. */
export const ignoreNesting: Nesting = {
  refuseWrite: () => undefined,
  refuseRead: () => undefined,
  bind: (fn) => fn,
};

// Shared by all databases: every AsyncLocalStorage that was ever used slows down all promises of the process, even
// after its database was closed.
const writes = new AsyncLocalStorage<Write>();
/** The number of writes that run. While there are none, the storage is disabled. */
let running = 0;

/** Returns the innermost enclosing write that has not ended. */
function openWrite(): Write | undefined {
  let write = writes.getStore();
  while (write?.isOpen === false) write = write.around;
  return write;
}

/** Throws on nesting, by following the async calls of every write. For tests. */
export function refuseNesting(): Nesting {
  function isInside(): boolean {
    let write = openWrite();
    while (write !== undefined && !(write.isOpen && write.nesting === nesting))
      write = write.around;
    return write !== undefined;
  }
  const nesting: Nesting = {
    refuseWrite() {
      if (isInside()) throw new NestedWrite();
    },
    refuseRead(sql) {
      if (isInside()) throw readPastWrite(sql);
    },
    bind(fn) {
      // The write queue runs writes of many callers in one loop; each keeps the async context of its caller.
      const caller = new AsyncResource("TillWrite");
      return (argument) =>
        caller.runInAsyncScope(async () => {
          const write = { nesting, around: openWrite(), isOpen: true };
          running += 1;
          try {
            return await writes.run(write, fn, argument);
          } finally {
            write.isOpen = false;
            running -= 1;
            if (running === 0) writes.disable();
          }
        });
    },
  };
  return nesting;
}
