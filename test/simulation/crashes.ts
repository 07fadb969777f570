import type { Database } from "../../src/platform/database/database.ts";

/** The process was killed: what it held in memory is gone. */
export class Killed extends Error {
  override readonly name = "Killed";
}

/** The moment of a write at which the process dies: before it, before its transaction commits, or after it. */
export interface CrashPoint {
  /** How many writes succeed before. */
  readonly after: number;
  readonly where: "before" | "inside" | "after";
}

export interface CrashableStore {
  readonly db: Database;
  /** The process dies there; null: it lives. */
  plan(point: CrashPoint | null): void;
}

/** A store whose writes may be the last thing that a process does. */
export function crashable(db: Database): CrashableStore {
  let left = 0;
  let where: CrashPoint["where"] | null = null;

  function isNow(): CrashPoint["where"] | null {
    if (where === null) return null;
    left -= 1;
    return left < 0 ? where : null;
  }

  return {
    plan(point) {
      left = point?.after ?? 0;
      where = point?.where ?? null;
    },
    db: {
      dialect: db.dialect,
      all: (...asked) => db.all(...asked),
      find: (...asked) => db.find(...asked),
      findOne: (...asked) => db.findOne(...asked),
      close: () => db.close(),
      async write(context, fn) {
        const at = isNow();
        if (at === "before") throw new Killed("before a write");
        const result = await db.write(context, async (tx) => {
          const made = await fn(tx);
          if (at === "inside") throw new Killed("inside a write");
          return made;
        });
        if (at === "after") throw new Killed("after a write");
        return result;
      },
    },
  };
}
