import { makeBorrowedConnection, type BorrowedConnection } from "./client.ts";
import { flushesCommits } from "./durability.ts";
import { readAsSqliteDoes } from "./types.ts";

/** A connection outside any pool. */
export interface Standalone {
  readonly connection: BorrowedConnection;
  close(): Promise<void>;
}

/** Opens a single connection outside any pool, read-only unless `mayWrite`. */
export async function connectAlone(
  url: string,
  connectMilliseconds: number,
  mayWrite = false,
): Promise<Standalone> {
  const { default: driver } = await import("pg");
  const client = new driver.Client({
    connectionString: url,
    application_name: "till look",
    connectionTimeoutMillis: connectMilliseconds,
    statement_timeout: 30_000,
  });
  // Without a listener, the error of an idle connection would end the process.
  client.on("error", () => undefined);
  await client.connect();
  readAsSqliteDoes(client, driver.types.builtins);
  await client.query(mayWrite ? flushesCommits : "SET default_transaction_read_only = on");
  return { connection: makeBorrowedConnection(client, mayWrite), close: () => client.end() };
}
