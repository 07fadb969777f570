import { queryCheck, type Check } from "../../platform/database/schema/checks.ts";

export const walletChecks: readonly Check[] = [
  queryCheck({
    name: "wallets.claimed",
    describe: "The address or key of an active wallet is claimed by its organization.",
    advice: "Archive the wallet with till wallet release, and register it again.",
    sql: `SELECT wallets.id AS "row", COALESCE('It is claimed by ' || claims.organization_id || '.', 'Nobody claims it.') AS fault
      FROM wallets LEFT JOIN wallet_claims AS claims
        ON claims.family = wallets.family AND claims.identity = wallets.identity
      WHERE wallets.status = 'active'
        AND (claims.organization_id IS NULL OR claims.organization_id <> wallets.organization_id)
      ORDER BY wallets.id`,
  }),
  queryCheck({
    name: "wallets.default",
    describe: "The reserves of a network stand behind its default wallet, without gaps.",
    advice: "Choose the default wallet and its reserves again: till wallet default.",
    sql: `SELECT organization_id || ' ' || network AS "row",
        COUNT(*) || ' wallets have the positions ' || MIN(position) || ' to ' || MAX(position) || '.' AS fault
      FROM wallets WHERE position IS NOT NULL
      GROUP BY organization_id, network
      HAVING MIN(position) <> 0 OR MAX(position) <> COUNT(*) - 1
      ORDER BY organization_id, network`,
  }),
  queryCheck({
    name: "wallets.paid-index",
    describe: "No address of an extended key was paid before it was assigned.",
    advice:
      "Raise next_index of the claim above highest_paid_index before issuing another invoice.",
    sql: `SELECT family || ' ' || identity AS "row",
        'Index ' || highest_paid_index || ' was paid and ' || next_index || ' is the next.' AS fault
      FROM wallet_claims WHERE highest_paid_index >= next_index ORDER BY family, identity`,
  }),
];
