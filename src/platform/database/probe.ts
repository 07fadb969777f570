import type { Clock } from "../../kernel/clock.ts";
import type { Database, WriteContext } from "./database.ts";

/** Writes to the store without changing it, and returns the time until the commit was on disk, in milliseconds. */
export async function probeWrite(
  db: Database,
  clock: Clock,
  context: WriteContext,
): Promise<number> {
  const began = clock.now();
  await db.write(context, (tx) => tx.run("UPDATE meta SET value = value"));
  return clock.now() - began;
}
