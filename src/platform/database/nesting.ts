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

/** A write of a database that runs, or has run, around what happens now. */
interface Write {
  readonly nesting: Nesting;
  /** The write of another database that this one runs in. */
  readonly around: Write | undefined;
  isOpen: boolean;
}

// One for all databases: each storage that was ever used costs every promise of the process, even after its database was
// closed.
const writes = new AsyncLocalStorage<Write>();

/** The innermost write around what happens now that has not ended. */
function openWrite(): Write | undefined {
  let write = writes.getStore();
  while (write?.isOpen === false) write = write.around;
  return write;
}

export function makeNesting(): Nesting {
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
      // The lane runs writes of many callers from one loop; each keeps its own caller's context.
      const caller = new AsyncResource("TillWrite");
      return (argument) =>
        caller.runInAsyncScope(async () => {
          const write = { nesting, around: openWrite(), isOpen: true };
          try {
            return await writes.run(write, fn, argument);
          } finally {
            write.isOpen = false;
          }
        });
    },
  };
  return nesting;
}
