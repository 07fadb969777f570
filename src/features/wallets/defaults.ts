import type { App } from "../../app.ts";
import { Forbidden } from "../../http/declare/problems.ts";
import { invalidField, NotFound } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import type { Network } from "../../platform/chain/networks.ts";
import type { Tx, WriteContext } from "../../platform/database/database.ts";
import { handlingRole } from "../members/members.ts";
import { lockOrganization } from "../organizations/store.ts";
import { DefaultWalletUnusable, requireNetwork } from "./rules.ts";
import { presentWallet, type SetDefaultWalletInput } from "./records.ts";
import {
  findWallets,
  hasWallet,
  listDefaults,
  lockDefaults,
  type DefaultWallets,
  type WalletRow,
} from "./store.ts";
import { wallets } from "./table.ts";

/** Returns the default of each network on which the organization has one, or has an active wallet. */
export async function listDefaultWallets(
  { db }: App,
  organizationId: Id<"organization">,
): Promise<readonly DefaultWallets[]> {
  const rows = await listDefaults(db, organizationId);
  return [...new Set(rows.map(({ network }) => network))].map((network) => ({
    network,
    wallets: rows.flatMap(({ walletId, status, ...row }) =>
      row.network !== network || walletId === null || status === null ? [] : [{ walletId, status }],
    ),
  }));
}

/**
 * Makes a wallet the default of its network, with reserves, for invoices that are issued from now on. 403 for everybody
 * but an owner of the organization and the operator: a stolen API key must not choose where payers are sent. 404 for a
 * wallet of another organization; 422 `default_wallet_unusable` for one of another network, or an archived one.
 */
export async function setDefaultWallet(
  { db, clock, journal, networks }: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  networkId: string,
  { walletId, reserveWalletIds }: SetDefaultWalletInput,
): Promise<DefaultWallets> {
  const network = requireNetwork(networks.enabled, networkId);
  const wanted = [walletId, ...reserveWalletIds];
  const repeated = reserveWalletIds.findIndex((id, index) => wanted.indexOf(id) <= index);
  if (repeated !== -1) {
    throw invalidField(
      `/reserveWalletIds/${String(repeated)}`,
      "duplicate",
      "is the default or an earlier reserve: name each wallet once",
    );
  }
  return db.write(context, async (tx) => {
    await lockOrganization(tx, organizationId);
    // Checked inside the transaction, because the caller may have lost the role since the request was admitted.
    if ((await handlingRole(tx, organizationId)) !== "owner") {
      throw new Forbidden(
        "Only a logged-in owner of the organization can choose default wallets, or the operator with till wallet default.",
      );
    }
    const rows = await lockDefaults(tx, organizationId, network.id, wanted);
    for (const id of wanted) requireUsable(rows, id, network);
    const before = rows
      .filter((row) => row.network === network.id && row.position !== null)
      .sort((one, other) => (one.position ?? 0) - (other.position ?? 0))
      .map(({ id }) => id);
    const chosen = wanted.map((id) => ({ walletId: id, status: "active" as const }));
    if (JSON.stringify(before) === JSON.stringify(wanted))
      return { network: network.id, wallets: chosen };
    const at = clock.now();
    // Two wallets that exchange their positions must not have the same one in between.
    await tx.update(
      wallets,
      { position: null },
      "WHERE organization_id = $1 AND network = $2 AND position IS NOT NULL",
      [organizationId, network.id],
    );
    const moved = await move(tx, rows, wanted);
    const [from = null, ...reservesFrom] = before;
    journal.record(tx, at, {
      action: "wallet.default_changed",
      organizationId,
      subjectType: "wallet",
      subjectId: walletId,
      changes: {
        network: network.id,
        walletId: { from, to: walletId },
        reserveWalletIds: { from: reservesFrom, to: reserveWalletIds },
      },
    });
    for (const wallet of moved) {
      journal.record(tx, at, {
        organizationId,
        subjectType: "wallet",
        subjectId: wallet.id,
        events: {
          types: ["wallet.default_changed"],
          version: wallet.version,
          data: presentWallet(wallet),
        },
      });
    }
    return { network: network.id, wallets: chosen };
  });
}

function requireUsable(
  rows: readonly WalletRow[],
  walletId: Id<"wallet">,
  { id, title }: Network,
): void {
  const wallet = rows.find((row) => row.id === walletId);
  if (wallet === undefined) {
    throw new NotFound(`The organization has no wallet ${walletId}. List its wallets.`);
  }
  if (wallet.network !== id) {
    throw new DefaultWalletUnusable(
      `The wallet ${walletId} receives on ${wallet.network}. Choose wallets on ${title}.`,
    );
  }
  if (wallet.status === "archived") {
    throw new DefaultWalletUnusable(
      `The wallet ${walletId} is archived. Choose an active wallet, or register it again.`,
    );
  }
}

/** Gives the wanted wallets their positions; returns the wallets whose position is another one than in `rows`. */
async function move(tx: Tx, rows: readonly WalletRow[], wanted: readonly Id<"wallet">[]) {
  const changes = rows.map(({ id, position, version }) => {
    const turn = wanted.indexOf(id);
    const to = turn === -1 ? null : turn;
    return { id, to, isMoved: to !== position, version };
  });
  await tx.updateMany(
    wallets,
    changes.map(({ id, to, isMoved, version }) => ({
      where: { id },
      set: { position: to, version: isMoved ? version + 1 : version },
    })),
  );
  return findWallets(
    tx,
    changes.filter(({ isMoved }) => isMoved).map(({ id }) => id),
  );
}

/**
 * Whether a wallet that is being registered becomes the default of its network: the first one on the network, if an owner
 * or the operator registers it, or the organization's first one at all. Archived wallets count, or somebody with a stolen
 * key could archive all of them and register one that becomes the default. The caller has locked the organization, so that
 * one of many simultaneous registrations is the first.
 */
export async function becomesDefault(
  tx: Tx,
  organizationId: Id<"organization">,
  network: string,
): Promise<boolean> {
  if (!(await hasWallet(tx, organizationId, null))) return true;
  if (await hasWallet(tx, organizationId, network)) return false;
  return (await handlingRole(tx, organizationId)) === "owner";
}
