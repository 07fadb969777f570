import type { App, InTx } from "../../app.ts";
import { OrganizationSuspended, suspendedAdvice } from "../../http/declare/problems.ts";
import { Defect, notFound } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { parsePage, toPage, type Page, type PageQuery } from "../../kernel/page.ts";
import type { NetworkKind } from "../../platform/chain/networks.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Tx, WriteContext } from "../../platform/database/database.ts";
import { lockOrganization, type OrganizationRow } from "../organizations/store.ts";
import {
  mayTake,
  readReceiver,
  requireNetwork,
  strideOf,
  WalletAddressUnavailable,
  WalletLimit,
  type AddressTaker,
  type Receiver,
} from "./rules.ts";
import { becomesDefault } from "./defaults.ts";
import { presentWallet, type CreateWalletInput } from "./records.ts";
import {
  advanceIndex,
  countWallets,
  findWallet,
  findWalletPage,
  insertFreeOwnerships,
  isInUse,
  lockOwnership,
  type DerivedRow,
  type WalletFilters,
  type WalletRow,
  type WalletView,
} from "./store.ts";
import { addressOwnerships, wallets } from "./table.ts";

/**
 * The maximum number of active wallets of an organization that is not approved. The addresses of wallets are read by the
 * whole installation, and nobody has looked at this organization yet.
 */
const newOrganizationActiveMax = 2;
/** The maximum number of wallets that it may ever register, archived ones included, so that they do not add up. */
const newOrganizationRegisteredMax = 20;

/** Returns a page of an organization's wallets, newest first. */
export async function listWallets(
  { db }: App,
  organizationId: Id<"organization">,
  { limit, cursor, ...filters }: WalletFilters & PageQuery,
): Promise<Page<WalletView>> {
  const page = parsePage({ limit, cursor }, "wallets", { organizationId, ...filters });
  return toPage(await findWalletPage(db, organizationId, filters, page), page);
}

/** Returns a wallet. @throws a 404 problem if the organization has none with this id */
export async function getWallet(
  { db }: App,
  organizationId: Id<"organization">,
  walletId: Id<"wallet">,
): Promise<WalletView> {
  const wallet = await findWallet(db, organizationId, walletId);
  if (wallet === null) throw notFound();
  return wallet;
}

/** Returns a wallet of any organization, for the operator. */
export async function getAnyWallet({ db }: App, walletId: Id<"wallet">): Promise<WalletView> {
  const row = await db.findOne(wallets, "WHERE id = $1", [walletId]);
  const wallet = row === null ? null : await findWallet(db, row.organizationId, walletId);
  if (wallet === null) throw notFound();
  return wallet;
}

/**
 * Registers a wallet. 409 if the address or key is already active on the network, or belongs to another organization
 * in its family; 409 `wallet_limit`; 403 `organization_suspended` if the organization was suspended meanwhile.
 */
export async function createWallet(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  input: CreateWalletInput,
): Promise<WalletView> {
  const { db, clock, ids, journal, config } = app;
  const { enabled } = app.networks;
  const network = requireNetwork(enabled, input.network);
  const receiver = readReceiver(network, enabled.values(), input);
  return db.write(context, async (tx) => {
    const at = clock.now();
    const { addressFamily: family } = network;
    const organization = await lockOrganization(tx, organizationId);
    if (organization.status === "suspended") throw new OrganizationSuspended(suspendedAdvice);
    await requireRoom(tx, organization, config);
    const isDefault = await becomesDefault(tx, organizationId, network.id);
    const { nextIndex, highestPaidIndex } = await takeOwnership(
      tx,
      organizationId,
      family,
      receiver,
    );
    const row: WalletRow = {
      id: ids.next("wallet", at),
      organizationId,
      label: input.label,
      network: network.id,
      family,
      ...receiver,
      status: "active",
      createdAt: at,
      archivedAt: null,
      position: isDefault ? 0 : null,
      version: 1,
    };
    if (!(await tx.insertIfAbsent(wallets, row))) throw unavailable();
    const wallet: WalletView = { ...row, nextIndex, highestPaidIndex };
    journal.record(tx, at, {
      action: "wallet.created",
      organizationId,
      subjectType: "wallet",
      subjectId: wallet.id,
      changes: {
        label: row.label,
        network: row.network,
        kind: row.kind,
        address: row.shownAddress,
        isDefault,
      },
      events: {
        types: isDefault ? ["wallet.created", "wallet.default_changed"] : ["wallet.created"],
        version: wallet.version,
        data: presentWallet(wallet),
      },
    });
    return wallet;
  });
}

/** Throws 409 `wallet_limit` if a locked organization can have no further wallet. Wallets beyond a limit stay. */
async function requireRoom(
  tx: Tx,
  { id, verificationStatus }: OrganizationRow,
  { walletsPerOrganization, verification }: Pick<Config, "walletsPerOrganization" | "verification">,
): Promise<void> {
  const isApproved = verification === "off" || verificationStatus === "approved";
  const most = isApproved
    ? walletsPerOrganization
    : Math.min(walletsPerOrganization, newOrganizationActiveMax);
  if ((await countWallets(tx, id, "active", most)) >= most) {
    throw new WalletLimit(
      isApproved
        ? `An organization has at most ${String(most)} active wallets. Archive those that are no longer used, or register an extended public key, which has an address for each invoice.`
        : `An organization that is not approved has at most ${String(most)} active wallets. Archive one, or submit the organization for review and wait for its approval.`,
    );
  }
  if (isApproved) return;
  const registered = await countWallets(tx, id, null, newOrganizationRegisteredMax);
  if (registered >= newOrganizationRegisteredMax) {
    throw new WalletLimit(
      `An organization that is not approved registers at most ${String(newOrganizationRegisteredMax)} wallets, archived ones included. Submit the organization for review and wait for its approval.`,
    );
  }
}

/**
 * Archives a wallet. Open payment requests to it remain watched. If it is the default of its network, no other wallet
 * takes its place but the reserves. Repeating has no effect.
 */
export function archiveWallet(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  walletId: Id<"wallet">,
): Promise<WalletView> {
  return app.db.write(context, async (tx) => {
    await lockWallet(tx, walletId);
    const wallet = await findWallet(tx, organizationId, walletId);
    if (wallet === null) throw notFound();
    return archiveRow(tx, app, wallet, "wallet.archived");
  });
}

/** Archives a wallet of any organization on behalf of the operator, to free a disputed address for its owner. */
export function releaseWallet(
  app: App,
  context: WriteContext,
  walletId: Id<"wallet">,
): Promise<WalletView> {
  return app.db.write(context, async (tx) => {
    const row = await lockWallet(tx, walletId);
    const wallet = row === null ? null : await findWallet(tx, row.organizationId, walletId);
    if (wallet === null) throw notFound();
    return archiveRow(tx, app, wallet, "wallet.released");
  });
}

async function archiveRow(
  tx: Tx,
  { clock, journal }: InTx,
  wallet: WalletView,
  action: string,
): Promise<WalletView> {
  if (wallet.status === "archived") return wallet;
  const at = clock.now();
  const change = { status: "archived", archivedAt: at, version: wallet.version + 1 } as const;
  const archived = { ...wallet, ...change };
  await tx.update(wallets, change, "WHERE id = $1", [wallet.id]);
  await releaseIfUnused(tx, archived);
  journal.record(tx, at, {
    action,
    organizationId: wallet.organizationId,
    subjectType: "wallet",
    subjectId: wallet.id,
    changes: { status: { from: wallet.status, to: archived.status } },
    events: {
      types: ["wallet.archived"],
      version: archived.version,
      data: presentWallet(archived),
    },
  });
  return archived;
}

function lockWallet(tx: Tx, walletId: Id<"wallet">): Promise<WalletRow | null> {
  return tx.lockOne(wallets, "WHERE id = $1", [walletId]);
}

/** Returns the same message whether the organization itself or another one has the address, so it reveals nothing. */
function unavailable(): InstanceType<typeof WalletAddressUnavailable> {
  return new WalletAddressUnavailable(
    "This address or key is already registered. Use another one. If it belongs to you but another organization registered it, ask the operator to release it.",
  );
}

const notDerived = { keyIdentity: null, keyIndex: null, derivedState: null };

/** Claims an address or key for the organization within its address family, or throws 409. */
async function takeOwnership(
  tx: Tx,
  organizationId: Id<"organization">,
  family: string,
  receiver: Receiver,
): Promise<{ readonly nextIndex: number; readonly highestPaidIndex: number | null }> {
  const { kind, identity } = receiver;
  const fresh = {
    family,
    identity,
    organizationId,
    kind,
    nextIndex: 0,
    highestPaidIndex: null,
    ...notDerived,
  };
  if (await tx.insertIfAbsent(addressOwnerships, fresh)) return fresh;
  const current = await lockOwnership(tx, family, identity);
  if (current === null) throw unavailable();
  if (current.kind === "released") {
    // A released extended key continues at its index, even for a new owner, because earlier addresses were shown to
    // payers.
    await tx.update(
      addressOwnerships,
      { organizationId, kind },
      "WHERE family = $1 AND identity = $2",
      [family, identity],
    );
    return current;
  }
  if (current.organizationId !== organizationId || current.kind !== kind) throw unavailable();
  return current;
}

/** Releases the address or key if no active wallet of the family uses it any more. */
async function releaseIfUnused(tx: Tx, wallet: WalletRow): Promise<void> {
  const { family, identity } = wallet;
  if ((await lockOwnership(tx, family, identity)) === null) return;
  if (await isInUse(tx, family, identity)) return;
  await tx.update(addressOwnerships, { kind: "released" }, "WHERE family = $1 AND identity = $2", [
    family,
    identity,
  ]);
}

/** Maximum number of consecutive indexes whose addresses are already claimed. */
const takenInARowMax = 100;

/** An address that was derived from an extended key. */
export type DerivedAddress = DerivedRow;

/** A wallet with an extended key. */
export type KeyWallet = WalletRow & { readonly xpub: string };

/**
 * Assigns addresses of an extended key to invoices that no invoice has had yet, the next indexes of the key, even if the
 * wallet was archived and registered again. Addresses that are or were wallets themselves are skipped, so that payments
 * to them are never taken for an invoice's. Addresses that the taker may not have become free for others. Returns fewer
 * than `count` if the wallet was archived in the meantime or has no address left, or if more than `unpaidMax` addresses
 * in a row would be unpaid.
 */
export async function takeAddresses(
  tx: Tx,
  wallet: KeyWallet,
  { extendedKeys }: NetworkKind,
  taker: AddressTaker,
  count: number,
  unpaidMax: number = Number.MAX_SAFE_INTEGER,
): Promise<readonly DerivedAddress[]> {
  const { family, identity, organizationId } = wallet;
  if (extendedKeys === null) throw new Defect(`${wallet.id} has a key that its network cannot use`);
  const { addressCount, deriveAddress } = extendedKeys;
  const taken: DerivedAddress[] = [];
  let takenInARow = 0;
  while (taken.length < count && takenInARow < takenInARowMax) {
    const indexes = await advanceIndex(tx, family, identity, {
      count: count - taken.length,
      stride: strideOf(taker),
      end: addressCount,
      unpaidMax,
    });
    if (indexes.length === 0) break;
    const derived = indexes.map((index) => ({ index, address: deriveAddress(wallet.xpub, index) }));
    const free = await insertFreeOwnerships(
      tx,
      derived.map(({ address, index }) => ({
        family,
        identity: address,
        organizationId,
        kind: "derived",
        nextIndex: 0,
        highestPaidIndex: null,
        keyIdentity: identity,
        keyIndex: index,
        derivedState: mayTake(taker, index) ? "held" : "free",
      })),
    );
    for (const each of derived.filter(({ index }) => mayTake(taker, index))) {
      const isFree = free.has(each.address);
      if (isFree) taken.push(each);
      takenInARow = isFree ? 0 : takenInARow + 1;
    }
  }
  return taken;
}
