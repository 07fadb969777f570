import {
  amount,
  columnTypes,
  flag,
  integer,
  json,
  signedAmount,
  table,
  text,
  time,
  type RowOf,
} from "../../../src/platform/database/schema/table.ts";
import { columns, decodeRows } from "../../../src/platform/database/schema/statements.ts";
import type { Database, Tx } from "../../../src/platform/database/database.ts";
import { testContext } from "../../support/store/stores.ts";

/** A test table with a column of every kind. */
export const accounts = table(
  "test_accounts",
  {
    id: text(),
    owner: text(),
    label: text().nullable(),
    balance: amount(),
    change: signedAmount(),
    version: integer(),
    isOpen: flag(),
    tags: json<unknown>(),
    openedAt: time(),
  },
  {
    primaryKey: ["id"],
    indexes: [{ name: "test_accounts_label", columns: ["owner", "label"], unique: true }],
  },
);

/** A test table for appended rows. */
export const entries = table(
  "test_entries",
  { id: text(), accountId: text(), amount: amount() },
  { primaryKey: ["id"] },
);

export type Account = RowOf<typeof accounts>;

export function account(id: string, changes: Partial<Account> = {}): Account {
  return {
    id,
    owner: "owner",
    label: id,
    balance: 0n,
    change: 0n,
    version: 0,
    isOpen: true,
    tags: [],
    openedAt: 1_700_000_000_123,
    ...changes,
  };
}

export async function createAccounts(db: Database): Promise<void> {
  const types = columnTypes[db.dialect];
  await db.write(testContext, async (tx) => {
    await tx.run(
      `CREATE TABLE test_accounts (
        id ${types.text} NOT NULL PRIMARY KEY,
        owner ${types.text} NOT NULL,
        label ${types.text},
        balance ${types.amount("balance")} NOT NULL,
        change ${types.signedAmount("change")} NOT NULL,
        version ${types.integer} NOT NULL,
        is_open ${types.flag} NOT NULL,
        tags ${types.json} NOT NULL,
        opened_at ${types.time} NOT NULL
      )`,
    );
    await tx.run("CREATE UNIQUE INDEX test_accounts_label ON test_accounts (owner, label)");
    await tx.run(
      `CREATE TABLE test_entries (
        id ${types.text} NOT NULL PRIMARY KEY,
        account_id ${types.text} NOT NULL REFERENCES test_accounts (id),
        amount ${types.amount("amount")} NOT NULL
      )`,
    );
  });
}

/** Adds to a balance as a service would: reads it, computes in the program, writes it, and appends an entry. */
export async function deposit(tx: Tx, id: string, added: bigint, entryId: string): Promise<void> {
  const found = await tx.lockOne(accounts, "WHERE id = $1", [id]);
  if (found === null) throw new Error(`there is no account ${id}`);
  await tx.update(
    accounts,
    { balance: found.balance + added, version: found.version + 1 },
    "WHERE id = $1 AND version = $2",
    [id, found.version],
  );
  tx.append(entries, { id: entryId, accountId: id, amount: added });
}

export async function onlyAccount(db: Database): Promise<Account> {
  const rows = decodeRows(
    accounts,
    await db.all(`SELECT ${columns(accounts, "a")} FROM test_accounts a`),
  );
  const [row] = rows;
  if (row === undefined || rows.length > 1) throw new Error(`${String(rows.length)} accounts`);
  return row;
}

export async function countEntries(db: Database): Promise<number> {
  const [row] = await db.all<{ count: number }>("SELECT COUNT(*) AS count FROM test_entries");
  return row?.count ?? 0;
}
