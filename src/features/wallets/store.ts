import type { Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import type { PageRequest } from "../../kernel/page.ts";
import type { Address } from "../../platform/chain/client.ts";
import {
  columnName,
  integer,
  text,
  type RowOf,
  type SqlValue,
} from "../../platform/database/schema/table.ts";
import { columns, decodeRows } from "../../platform/database/schema/statements.ts";
import type { Reader, Tx } from "../../platform/database/database.ts";
import { forEachDialect, givenRows, listed } from "../../platform/database/query/json-rows.ts";
import { pageQuery } from "../../platform/database/query/lists.ts";
import { skipLocked } from "../../platform/database/write/locks.ts";
import { mayTakeSql, type AddressTaker } from "./rules.ts";
import { addressOwnerships, wallets } from "./table.ts";

export type WalletRow = RowOf<typeof wallets>;
type OwnershipRow = RowOf<typeof addressOwnerships>;

/** A wallet with the counters of its claim. */
export interface WalletView extends WalletRow {
  readonly nextIndex: number;
  readonly highestPaidIndex: number | null;
}

const selectViews = `SELECT ${columns(wallets, "w")}, c.next_index AS "nextIndex", c.highest_paid_index AS "highestPaidIndex"
  FROM wallets w JOIN wallet_claims c ON c.family = w.family AND c.identity = w.identity`;

async function findViews(
  reader: Reader,
  rest: string,
  values: readonly SqlValue[],
): Promise<WalletView[]> {
  const stored = await reader.all(`${selectViews} ${rest}`, values);
  return decodeRows(wallets, stored) as readonly WalletRow[] as WalletView[];
}

export async function findWallet(
  reader: Reader,
  organizationId: Id<"organization">,
  walletId: Id<"wallet">,
): Promise<WalletView | null> {
  const [view] = await findViews(reader, "WHERE w.organization_id = $1 AND w.id = $2", [
    organizationId,
    walletId,
  ]);
  return view ?? null;
}

/** Whether a wallet is active; if so, it cannot be archived before the transaction ends. */
export async function lockActiveShared(tx: Tx, walletId: Id<"wallet">): Promise<boolean> {
  const active = await tx.lockShared(
    "SELECT 1 AS found FROM wallets WHERE id = $1 AND status = 'active'",
    [walletId],
  );
  return active.length === 1;
}

export interface WalletFilters {
  readonly network?: string | undefined;
  readonly status?: "active" | "archived" | undefined;
}

/** Returns a page of wallets, newest first. */
export function findWalletPage(
  reader: Reader,
  organizationId: Id<"organization">,
  filters: WalletFilters,
  page: PageRequest,
): Promise<WalletView[]> {
  const { rest, values } = pageQuery(
    page,
    [
      ["w.organization_id =", organizationId],
      ["w.network =", filters.network],
      ["w.status =", filters.status],
    ],
    "w.id",
  );
  return findViews(reader, rest, values);
}

/** Maximum number of an organization's wallets shown to reviewers. */
const shownWalletsMax = 100;

/** Returns an organization's newest wallets, including archived ones. */
export function walletsOf(
  reader: Reader,
  organizationId: Id<"organization">,
): Promise<WalletView[]> {
  return findViews(
    reader,
    `WHERE w.organization_id = $1 ORDER BY w.id DESC LIMIT ${String(shownWalletsMax)}`,
    [organizationId],
  );
}

const receivingRest =
  "WHERE organization_id = $1 AND network = $2 AND position IS NOT NULL AND status = 'active' ORDER BY position";

/**
 * Returns the active ones among a network's default wallet and its reserves, in the order in which invoices without a
 * walletId try them.
 */
export function receivingWallets(
  reader: Reader,
  organizationId: Id<"organization">,
  network: string,
): Promise<readonly WalletRow[]> {
  return reader.find(wallets, receivingRest, [organizationId, network]);
}

/**
 * Repeats `receivingWallets` in a transaction that has locked the organization's row, before which no default changes:
 * none of the wallets can be archived before the transaction ends.
 */
export async function lockReceivingShared(
  tx: Tx,
  organizationId: Id<"organization">,
  network: string,
): Promise<readonly WalletRow[]> {
  const sql = `SELECT ${columns(wallets)} FROM wallets ${receivingRest}`;
  return decodeRows(wallets, await tx.lockShared(sql, [organizationId, network]));
}

/** Whether an organization has registered a wallet on the network, or on any one; archived wallets count. */
export async function hasWallet(
  reader: Reader,
  organizationId: Id<"organization">,
  network: string | null,
): Promise<boolean> {
  const found = await reader.all(
    `SELECT 1 AS found FROM wallets WHERE organization_id = $1 AND network = COALESCE($2, network) LIMIT 1`,
    [organizationId, network],
  );
  return found.length > 0;
}

/** Locks the wallets with a position on a network, and those with the given ids, which may have another network. */
export function lockDefaults(
  tx: Tx,
  organizationId: Id<"organization">,
  network: string,
  walletIds: readonly Id<"wallet">[],
): Promise<WalletRow[]> {
  return tx.lock(
    wallets,
    `WHERE organization_id = $1
       AND ((network = $2 AND position IS NOT NULL) OR id IN ${listed(tx.dialect, 3)})
     ORDER BY id`,
    [organizationId, network, JSON.stringify(walletIds)],
  );
}

/** Returns wallets by their ids, ascending. */
export function findWallets(
  reader: Reader,
  walletIds: readonly Id<"wallet">[],
): Promise<WalletView[]> {
  return findViews(reader, `WHERE w.id IN ${listed(reader.dialect, 1)} ORDER BY w.id`, [
    JSON.stringify(walletIds),
  ]);
}

/** The wallets of a network that invoices without a walletId try. */
export interface DefaultWallets {
  readonly network: string;
  /** The default, then its reserves in order; empty if no default was chosen. */
  readonly wallets: readonly {
    readonly walletId: Id<"wallet">;
    readonly status: WalletRow["status"];
  }[];
}

/** A network on which an organization has wallets, with one of its default and its reserves; null: it has none. */
interface DefaultRow {
  readonly network: string;
  readonly walletId: Id<"wallet"> | null;
  readonly status: "active" | "archived" | null;
}

/** Returns the default and the reserves of each network, in order, and each network with active wallets but no default. */
export function listDefaults(
  reader: Reader,
  organizationId: Id<"organization">,
): Promise<DefaultRow[]> {
  return reader.all<DefaultRow>(
    `SELECT network AS "network", id AS "walletId", status AS "status", position AS "position"
     FROM wallets WHERE organization_id = $1 AND position IS NOT NULL
     UNION ALL
     SELECT DISTINCT network, CAST(NULL AS text), CAST(NULL AS text), CAST(NULL AS integer)
     FROM wallets AS others WHERE organization_id = $1 AND status = 'active' AND NOT EXISTS (
       SELECT 1 FROM wallets WHERE organization_id = $1 AND network = others.network AND position IS NOT NULL
     )
     ORDER BY 1, 4`,
    [organizationId],
  );
}

/** An organization that has active wallets on a network, none of which is its default or a reserve. */
interface WithoutDefault {
  readonly organizationId: Id<"organization">;
  readonly network: string;
}

/** Returns up to `limit` organizations that refuse invoices without a walletId on a network, although they have wallets. */
export function withoutDefault(
  reader: Reader,
  networks: readonly string[],
  limit: number,
): Promise<WithoutDefault[]> {
  return reader.all<WithoutDefault>(
    `SELECT organization_id AS "organizationId", network AS "network"
     FROM wallets WHERE status = 'active' AND network IN ${listed(reader.dialect, 1)}
     GROUP BY organization_id, network HAVING COUNT(position) = 0
     ORDER BY organization_id, network LIMIT $2`,
    [JSON.stringify(networks), limit],
  );
}

/** Returns the addresses of active wallets on a network in ascending order, without those of extended keys. */
export async function activeAddresses(
  reader: Reader,
  network: string,
  limit: number,
): Promise<Address[]> {
  const rows = await reader.all<{ address: Address }>(
    `SELECT identity AS "address" FROM wallets
     WHERE network = $1 AND status = 'active' AND address IS NOT NULL ORDER BY identity LIMIT $2`,
    [network, limit],
  );
  return rows.map(({ address }) => address);
}

/** Returns those of the given addresses that belong to active wallets on the network. */
export async function activeAmong(
  reader: Reader,
  network: string,
  addresses: readonly Address[],
): Promise<Address[]> {
  const rows = await reader.all<{ address: Address }>(
    `SELECT identity AS "address" FROM wallets
     WHERE network = $1 AND status = 'active' AND address IS NOT NULL
       AND identity IN ${listed(reader.dialect, 2)}`,
    [network, JSON.stringify(addresses)],
  );
  return rows.map(({ address }) => address);
}

/** An address of a wallet whose transfers are read once a day. */
export interface ReadAddress {
  readonly address: Address;
  /** The registration of the owner's oldest wallet that counts; earlier transfers are not the owner's. */
  readonly since: Instant;
  readonly walletId: Id<"wallet">;
  readonly organizationId: Id<"organization">;
}

/** Up to `limit` addresses above `after` in ascending order, or all from there up to `until`. */
interface AddressRange {
  readonly after: Address;
  readonly until: Address | null;
  readonly limit: number;
}

/**
 * Returns addresses of wallets on a network that are active, or were archived at `archivedSince` or later. A released
 * address counts for its present owner only.
 */
export function addressesToRead(
  reader: Reader,
  network: string,
  archivedSince: Instant,
  { after, until, limit }: AddressRange,
): Promise<ReadAddress[]> {
  return reader.all<ReadAddress>(
    `SELECT w.identity AS "address", min(w.created_at) AS "since", max(w.id) AS "walletId",
       c.organization_id AS "organizationId"
     FROM wallets w JOIN wallet_claims c
       ON c.family = w.family AND c.identity = w.identity AND c.organization_id = w.organization_id
     WHERE w.network = $1 AND w.address IS NOT NULL AND w.identity > $2${until === null ? "" : " AND w.identity <= $5"}
       AND (w.archived_at IS NULL OR w.archived_at >= $3)
     GROUP BY w.identity, c.organization_id ORDER BY w.identity LIMIT $4`,
    [network, after, archivedSince, limit, ...(until === null ? [] : [until])],
  );
}

/** Counts an organization's wallets, archived ones included if `status` is null, up to a limit. */
export async function countWallets(
  reader: Reader,
  organizationId: Id<"organization">,
  status: WalletRow["status"] | null,
  limit: number,
): Promise<number> {
  const rows = await reader.all(
    `SELECT 1 AS found FROM wallets WHERE organization_id = $1 AND status = COALESCE($2, status) LIMIT $3`,
    [organizationId, status, limit],
  );
  return rows.length;
}

/**
 * Returns the owners of addresses in a family, whether registered or derived from a wallet's key. A released address
 * belongs to its last owner. Unregistered addresses are omitted.
 */
export async function addressOwners(
  reader: Reader,
  family: string,
  addresses: readonly Address[],
): Promise<ReadonlyMap<Address, Id<"organization">>> {
  if (addresses.length === 0) return new Map();
  const rows = await reader.all<{ address: Address; owner: Id<"organization"> }>(
    `SELECT identity AS address, organization_id AS owner FROM wallet_claims
     WHERE family = $1 AND identity IN ${listed(reader.dialect, 2)}`,
    [family, JSON.stringify([...new Set(addresses)])],
  );
  return new Map(rows.map(({ address, owner }) => [address, owner]));
}

export function lockOwnership(
  tx: Tx,
  family: string,
  identity: string,
): Promise<OwnershipRow | null> {
  return tx.lockOne(addressOwnerships, "WHERE family = $1 AND identity = $2", [family, identity]);
}

/**
 * Reserves the next indexes of an extended key, up to a multiple of `stride`, unique to the caller, and returns them:
 * at least `count` that the taker may have; fewer if they reach `end`, and none if there is no such active key, or if
 * more than `unpaidMax` addresses in a row would be unpaid.
 */
export async function advanceIndex(
  tx: Tx,
  family: string,
  identity: string,
  { count, stride, end, unpaidMax }: Record<"count" | "stride" | "end" | "unpaidMax", number>,
): Promise<readonly number[]> {
  // A multiple may begin below the next index, where payers of invoices that a restore has lost may have addresses.
  const least = stride === 1 ? 0 : ((await lockOwnership(tx, family, identity))?.nextIndex ?? 0);
  const length = count * stride;
  const next = "next_index + CAST($3 AS integer) - next_index % CAST($6 AS integer)";
  const [counted] = await tx.all<{ nextIndex: number }>(
    `UPDATE wallet_claims SET next_index = ${next}
     WHERE family = $1 AND identity = $2 AND kind = 'xpub' AND next_index < $4
       AND ${next} - COALESCE(highest_paid_index + 1, 0) <= $5
     RETURNING next_index AS "nextIndex"`,
    [family, identity, length, end, unpaidMax, stride],
  );
  if (counted === undefined) return [];
  const first = counted.nextIndex - length;
  const indexes = Array.from({ length }, (_, offset) => first + offset);
  return indexes.filter((index) => index >= least && index < end);
}

/** A stored address that was derived from an extended key. */
export interface DerivedRow {
  readonly index: number;
  readonly address: Address;
}

/**
 * Takes free addresses of an extended key that the taker may have, the lowest indexes first, and returns them in this
 * order: only addresses that the organization derived itself, because a key may have had another owner, and none that
 * comes `unpaidMax` addresses or more after the last paid one. Concurrent transactions take different ones.
 */
export async function takeFree(
  tx: Tx,
  { family, identity, organizationId }: Pick<WalletRow, "family" | "identity" | "organizationId">,
  taker: AddressTaker,
  count: number,
  unpaidMax: number = Number.MAX_SAFE_INTEGER,
): Promise<readonly DerivedRow[]> {
  const taken = await tx.all<DerivedRow>(
    `WITH lowest AS MATERIALIZED (
       SELECT identity FROM wallet_claims
       WHERE family = $1 AND key_identity = $2 AND organization_id = $3 AND derived_state = 'free'
         AND ${mayTakeSql(taker, "key_index")} AND key_index - $5 <= (
           SELECT COALESCE(highest_paid_index, -1) FROM wallet_claims WHERE family = $1 AND identity = $2
         )
       ORDER BY key_index LIMIT $4${skipLocked[tx.dialect]}
     )
     UPDATE wallet_claims SET derived_state = 'held'
     WHERE family = $1 AND derived_state = 'free' AND identity IN (SELECT identity FROM lowest)
     RETURNING key_index AS "index", identity AS "address"`,
    [family, identity, organizationId, count, unpaidMax],
  );
  return taken.toSorted((one, other) => one.index - other.index);
}

/** Returns the indexes of held addresses that were derived from an extended key, in ascending order. */
export function heldAddresses(
  reader: Reader,
  { family, identity }: Pick<WalletRow, "family" | "identity">,
  addresses: readonly Address[],
): Promise<DerivedRow[]> {
  return reader.all<DerivedRow>(
    `SELECT key_index AS "index", identity AS "address" FROM wallet_claims
     WHERE family = $1 AND key_identity = $2 AND derived_state = 'held'
       AND identity IN ${listed(reader.dialect, 3)} ORDER BY key_index`,
    [family, identity, JSON.stringify(addresses)],
  );
}

/** Frees addresses of extended keys whose last hold was released, unless they have received a transfer. */
export async function freeAddresses(
  tx: Tx,
  family: string,
  addresses: readonly Address[],
): Promise<void> {
  await tx.run(
    `UPDATE wallet_claims SET derived_state = 'free'
     WHERE family = $1 AND derived_state = 'held' AND key_index IS NOT NULL
       AND identity IN ${listed(tx.dialect, 2)}`,
    [family, JSON.stringify(addresses)],
  );
}

/** Notes that addresses received a transfer; returns the number of derived ones that had not received any. */
export function spendAddresses(
  tx: Tx,
  family: string,
  addresses: readonly Address[],
): Promise<number> {
  return tx.run(
    `UPDATE wallet_claims SET derived_state = 'spent'
     WHERE family = $1 AND derived_state <> 'spent' AND identity IN ${listed(tx.dialect, 2)}`,
    [family, JSON.stringify([...new Set(addresses)])],
  );
}

const givenOwnerships = givenRows("given", addressOwnerships.columns);
const ownershipColumns = Object.keys(addressOwnerships.columns).map(columnName).join(", ");
const insertFreeSql = forEachDialect(
  // Without WHERE, SQLite reads ON CONFLICT as the condition of a join.
  (dialect) => `INSERT INTO wallet_claims (${ownershipColumns})
    SELECT ${ownershipColumns} FROM ${givenOwnerships.from(dialect, 1)}
    WHERE true ON CONFLICT DO NOTHING RETURNING identity`,
);

/** Inserts the claims of addresses that have none; returns these addresses. */
export async function insertFreeOwnerships(
  tx: Tx,
  ownerships: readonly OwnershipRow[],
): Promise<ReadonlySet<string>> {
  const rows = await tx.all<{ identity: string }>(insertFreeSql[tx.dialect], [
    givenOwnerships.values(ownerships),
  ]);
  return new Set(rows.map(({ identity }) => identity));
}

const paidRows = givenRows("given", { id: text<Id<"wallet">>(), paidIndex: integer() });

/** Records the highest paid index of wallets' extended keys. */
export async function raisePaidIndexes(
  tx: Tx,
  indexes: ReadonlyMap<Id<"wallet">, number>,
): Promise<void> {
  if (indexes.size === 0) return;
  await tx.run(
    `UPDATE wallet_claims SET highest_paid_index = raised.most
     FROM (
       SELECT wallets.family AS family, wallets.identity AS identity,
         MAX(given.paid_index) AS most
       FROM ${paidRows.from(tx.dialect, 1)} JOIN wallets ON wallets.id = given.id
       GROUP BY wallets.family, wallets.identity
     ) AS raised
     WHERE wallet_claims.family = raised.family AND wallet_claims.identity = raised.identity
       AND (highest_paid_index IS NULL OR highest_paid_index < raised.most)`,
    [paidRows.values([...indexes].map(([id, paidIndex]) => ({ id, paidIndex })))],
  );
}

/** Whether an active wallet still uses the claim's address or key. */
export async function isInUse(tx: Tx, family: string, identity: string): Promise<boolean> {
  const found = await tx.all(
    `SELECT 1 AS found FROM wallets WHERE family = $1 AND identity = $2 AND status = 'active' LIMIT 1`,
    [family, identity],
  );
  return found.length > 0;
}

/** Returns an organization's wallets with an address in the network's notation, including archived ones. */
export async function walletsAt(
  reader: Reader,
  organizationId: Id<"organization">,
  shownAddress: string,
): Promise<readonly Id<"wallet">[]> {
  const rows = await reader.all<{ id: Id<"wallet"> }>(
    `SELECT id AS "id" FROM wallets WHERE organization_id = $1 AND shown_address = $2 AND kind = 'address' ORDER BY id`,
    [organizationId, shownAddress],
  );
  return rows.map(({ id }) => id);
}

/**
 * Returns the SQL condition that a wallet received the transfer of a payment, at its address or at one of its extended
 * key, and no matter how often the address or key was registered. The wallet's id is a placeholder; the others are columns
 * of the payment and its transfer. Addresses that were paid before version 43 of the schema, or that come from a backup, do
 * not name their key: there the wallet of the payment's option counts.
 */
export function isReceiverSql(
  walletId: string,
  columns: Readonly<
    Record<"organization" | "network" | "address" | "invoice" | "optionWallet", string>
  >,
): string {
  return `EXISTS (
    SELECT 1 FROM wallets AS receiver
    LEFT JOIN wallet_claims AS derived ON derived.family = receiver.family
      AND derived.identity = ${columns.address} AND derived.kind = 'derived' AND receiver.address IS NULL
    WHERE receiver.id = ${walletId} AND receiver.organization_id = ${columns.organization}
      AND receiver.network = ${columns.network}
      AND (receiver.identity = ${columns.address} OR receiver.identity = derived.key_identity
        OR (derived.identity IS NOT NULL AND derived.key_identity IS NULL AND receiver.identity = (
          SELECT paid.identity FROM wallets AS paid WHERE paid.id = COALESCE(
            ${columns.optionWallet}, (SELECT wallet_id FROM invoices WHERE invoices.id = ${columns.invoice})
          )
        )))
  )`;
}
