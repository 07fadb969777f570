import { makeLent, type Lent } from "./client.ts";
import { readAsSqliteDoes } from "./types.ts";

/** One connection of its own that can only read. */
export async function connectAlone(
  url: string,
  connectMilliseconds: number,
): Promise<{ readonly lent: Lent; close(): Promise<void> }> {
  const { default: driver } = await import("pg");
  const client = new driver.Client({
    connectionString: url,
    application_name: "till look",
    connectionTimeoutMillis: connectMilliseconds,
    statement_timeout: 30_000,
  });
  // A connection that breaks while nothing is asked has nobody else to tell.
  client.on("error", () => undefined);
  await client.connect();
  readAsSqliteDoes(client, driver.types.builtins);
  await client.query("SET default_transaction_read_only = on");
  return { lent: makeLent(client), close: () => client.end() };
}
