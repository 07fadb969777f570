import type { Database, Tx } from "../../../src/platform/database/database.ts";

/** The methods of a transaction that run a statement, or add rows to write at its commit. */
const names = [
  ...(["run", "all", "insert", "insertMany", "insertIfAbsent", "update", "append"] as const),
  ...(["updateMany", "updateManyReturning", "upsertMany", "deleteMany"] as const),
  ...(["lock", "lockOne", "find", "findOne"] as const),
];

/** Wraps a store to call `tell` before each statement of its writes; an error that it throws fails the statement. */
export function withStatements(db: Database, tell: (name: string) => void): Database {
  return {
    ...db,
    write: (context, fn) =>
      db.write(context, async (tx) => {
        const told = { ...tx } as Record<string, unknown>;
        const methods = tx as unknown as Record<string, (...given: unknown[]) => unknown>;
        for (const name of names) {
          const does = methods[name];
          told[name] = (...given: unknown[]) => {
            tell(name);
            return does?.(...given);
          };
        }
        const result = await fn(told as unknown as Tx);
        tell("commit");
        return result;
      }),
  };
}
