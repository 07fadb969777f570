import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { whenThisProcessIsGone } from "../../support/programs/guard.ts";
import { startMariaDb, type MariaDb } from "./mariadb.ts";
import { Missing } from "./parts.ts";
import { giveAway } from "./unprivileged.ts";

/**
 * Does something in a temporary folder with a database server; both are gone afterwards, however this process ends. Says
 * what to do if a part or a program is missing.
 */
export async function inWorkspace(
  work: (folder: string, database: MariaDb) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "till-woocommerce-"));
  const guard = whenThisProcessIsGone('sleep 1; rm -rf "$1"', folder);
  giveAway(folder);
  try {
    const database = await startMariaDb(folder);
    try {
      await work(folder, database);
    } finally {
      await database.stop();
    }
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    console.error(error.message);
    process.exitCode = 2;
  } finally {
    guard.dismiss();
    // A request that was cut off may still write.
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
  }
}
