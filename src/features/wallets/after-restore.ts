import type { Id } from "../../kernel/id.ts";
import type { Reader, Tx } from "../../platform/database/database.ts";
import { forEachDialect, givenRows } from "../../platform/database/query/json-rows.ts";
import { addressOwnerships } from "./table.ts";

/**
 * The number of addresses that each extended key skips after a restore without a readable former store. Addresses of
 * invoices that were issued after the backup must not be given to other payers.
 */
export const skippedAddresses = 1_000;
/** Indexes of BIP 32 end here. */
const indexEnd = 2 ** 31;

const { family, identity, organizationId, nextIndex, highestPaidIndex } = addressOwnerships.columns;
const given = givenRows("given", {
  family,
  identity,
  organizationId,
  nextIndex,
  highestPaidIndex,
});
const storeIndexesSql = forEachDialect(
  (dialect) => `INSERT INTO wallet_claims
      (family, identity, organization_id, kind, next_index, highest_paid_index)
    SELECT given.family, given.identity, COALESCE(own.id, platform.id), 'released', given.next_index, given.highest_paid_index
    FROM ${given.from(dialect, 1)}
    LEFT JOIN organizations AS platform ON platform.is_platform = 1
    LEFT JOIN organizations AS own ON own.id = given.organization_id
    WHERE COALESCE(own.id, platform.id) IS NOT NULL
    ON CONFLICT (family, identity) DO UPDATE SET next_index = excluded.next_index
    WHERE wallet_claims.next_index < excluded.next_index`,
);

/**
 * Lets a restored store continue after the addresses that the former one has assigned. Keys that only the former one
 * knows become released ones, which continue at their index when somebody registers them again.
 * @param former null if it cannot be read: every key then skips `skippedAddresses`
 */
export async function continueIndexes(tx: Tx, former: Reader | null): Promise<void> {
  if (former === null) {
    await tx.run(
      `UPDATE wallet_claims SET next_index = next_index + ${String(skippedAddresses)}
       WHERE (kind = 'xpub' OR next_index > 0) AND next_index < ${String(indexEnd - skippedAddresses)}`,
    );
    return;
  }
  // Only columns that former stores of all migration levels have.
  const used = await former.all<{
    family: string;
    identity: string;
    organizationId: Id<"organization">;
    nextIndex: number;
    highestPaidIndex: number | null;
  }>(
    `SELECT family, identity, organization_id AS "organizationId", next_index AS "nextIndex",
       highest_paid_index AS "highestPaidIndex" FROM wallet_claims WHERE next_index > 0`,
  );
  await tx.run(storeIndexesSql[tx.dialect], [given.values(used)]);
}

/**
 * Lets a restored store of the current migration level give no derived address of the backup to another invoice: it may
 * have been given to one since.
 */
export async function spendBackedUp(tx: Tx): Promise<void> {
  await tx.run("UPDATE wallet_claims SET derived_state = 'spent' WHERE derived_state <> 'spent'");
}
