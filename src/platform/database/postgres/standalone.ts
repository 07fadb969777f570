import { makeBorrowedConnection, type BorrowedConnection } from "./client.ts";
import { readAsSqliteDoes } from "./types.ts";

/** Opens a single read-only connection outside any pool. */
export async function connectAlone(
  url: string,
  connectMilliseconds: number,
): Promise<{ readonly connection: BorrowedConnection; close(): Promise<void> }> {
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
  await client.query("SET default_transaction_read_only = on");
  return { connection: makeBorrowedConnection(client), close: () => client.end() };
}
