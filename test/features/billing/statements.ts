import type { Database, Tx } from "../../../src/platform/database/index.ts";

/** What of a transaction makes a statement, or rows that are written at its commit. */
const names = [
  ...(["run", "all", "insert", "insertMany", "insertIfAbsent", "update", "append"] as const),
  ...(["lock", "lockOne", "find", "findOne"] as const),
];

/** A store that tells of each statement of its writes before it is made: what is thrown then fails the statement. */
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
