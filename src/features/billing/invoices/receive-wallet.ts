import type { App, InTx } from "../../../app.ts";
import { Defect, notFound } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Page, PageQuery } from "../../../kernel/page.ts";
import { findToken, type Network, type NetworkToken } from "../../../platform/chain/networks.ts";
import type { Reader, WriteContext } from "../../../platform/database/database.ts";
import { platformOrganization } from "../../organizations/store.ts";
import { findWallet, type WalletView } from "../../wallets/store.ts";
import { listWallets } from "../../wallets/wallets.ts";
import { NoReceiveWallet, ReceiveWalletUnusable } from "../errors.ts";
import type { ReceiveWallet, SetReceiveWalletInput } from "../operator/admin-records.ts";
import { priceOf, type Terms } from "../plans.ts";
import { billingState, type BillingStateRow } from "../table.ts";

/** The wallet, network and token in which the next platform invoice is payable. */
interface ReceiveTarget {
  readonly organizationId: Id<"organization">;
  readonly wallet: WalletView;
  readonly network: Network;
  readonly token: NetworkToken;
}

/** Returns the wallet and token in which the platform is paid. */
export async function getReceiveWallet({ db }: App): Promise<ReceiveWallet> {
  return receiveWalletOf(db, await stateOf(db));
}

/**
 * Sets the receive wallet for invoices that are issued from now on; open invoices stay payable at the wallet that
 * they name. A wallet that does not belong to the platform organization is a 404, one that cannot receive the token a
 * 422.
 */
export function setReceiveWallet(
  { db, clock, journal, networks }: App,
  context: WriteContext,
  { walletId, tokenSymbol }: SetReceiveWalletInput,
): Promise<ReceiveWallet> {
  return db.write(context, async (tx) => {
    const at = clock.now();
    const platform = await platformOrganization(tx);
    const wallet = platform === null ? null : await findWallet(tx, platform.id, walletId);
    if (platform === null || wallet === null) throw notFound();
    requireUsable(networks, wallet, tokenSymbol);
    const state = await tx.lockOne(billingState, "");
    if (state === null) throw new Defect("billing_state has no row");
    const before = { walletId: state.receiveWalletId, tokenSymbol: state.receiveToken };
    if (before.walletId === walletId && before.tokenSymbol === tokenSymbol) {
      return { wallet, tokenSymbol, updatedAt: state.receiveSetAt };
    }
    await tx.update(
      billingState,
      {
        receiveWalletId: walletId,
        receiveToken: tokenSymbol,
        receiveSetAt: at,
        version: state.version + 1,
      },
      "WHERE id = $1",
      [state.id],
    );
    journal.record(tx, at, {
      action: "receive_wallet.set",
      organizationId: platform.id,
      subjectType: "wallet",
      subjectId: walletId,
      changes: {
        walletId: { from: before.walletId, to: walletId },
        tokenSymbol: { from: before.tokenSymbol, to: tokenSymbol },
      },
    });
    return { wallet, tokenSymbol, updatedAt: at };
  });
}

/** Lists the platform organization's wallets, newest first; empty before the platform organization exists. */
export async function listPlatformWallets(app: App, query: PageQuery): Promise<Page<WalletView>> {
  const platform = await platformOrganization(app.db);
  if (platform === null) return { data: [], nextCursor: null };
  return listWallets(app, platform.id, query);
}

/**
 * Returns the wallet, network and token in which the next platform invoice is payable; null if none is set, the wallet
 * is not active, or its network or token is no longer enabled.
 */
export async function receiveTarget(
  reader: Reader,
  { networks }: InTx,
): Promise<ReceiveTarget | null> {
  const { wallet, tokenSymbol } = await receiveWalletOf(reader, await stateOf(reader));
  if (wallet === null || tokenSymbol === null || wallet.status !== "active") return null;
  const network = networks.enabled.get(wallet.network);
  const token = network === undefined ? null : findToken(network, tokenSymbol);
  if (network === undefined || token === null) return null;
  return { organizationId: wallet.organizationId, wallet, network, token };
}

/** Throws `no_receive_wallet` if the plan has a price or overage and the platform cannot be paid. */
export async function requireReceiveWallet(
  reader: Reader,
  app: InTx,
  plan: Pick<Terms, "price" | "overagePrice" | "currency">,
): Promise<void> {
  if (priceOf(plan) === 0n && plan.overagePrice === null) return;
  if ((await receiveTarget(reader, app)) === null) throw noReceiveWallet();
}

export function noReceiveWallet(): InstanceType<typeof NoReceiveWallet> {
  return new NoReceiveWallet(
    "The platform has not set a wallet to be paid at, or the wallet can no longer be used. A platform admin must set one with PUT /admin/billing/receive-wallet or `till billing receive-wallet`; then try again.",
  );
}

async function stateOf(reader: Reader): Promise<BillingStateRow> {
  const state = await reader.findOne(billingState, "");
  if (state === null) throw new Defect("billing_state has no row");
  return state;
}

async function receiveWalletOf(reader: Reader, state: BillingStateRow): Promise<ReceiveWallet> {
  const { receiveWalletId, receiveToken: tokenSymbol, receiveSetAt: updatedAt } = state;
  const platform = receiveWalletId === null ? null : await platformOrganization(reader);
  const wallet =
    platform === null || receiveWalletId === null
      ? null
      : await findWallet(reader, platform.id, receiveWalletId);
  return { wallet, tokenSymbol, updatedAt };
}

function requireUsable(
  { enabled }: App["networks"],
  wallet: WalletView,
  tokenSymbol: string,
): void {
  if (wallet.status === "archived") {
    throw new ReceiveWalletUnusable("The wallet is archived. Choose or register an active one.");
  }
  const network = enabled.get(wallet.network);
  if (network === undefined) {
    throw new ReceiveWalletUnusable(
      `The wallet's network ${wallet.network} is not enabled. Enable it, or choose another wallet.`,
    );
  }
  if (findToken(network, tokenSymbol) === null) {
    const symbols = network.tokens.map(({ symbol }) => symbol).join(", ");
    throw new ReceiveWalletUnusable(
      `${network.title} has no token ${tokenSymbol}. Choose one of its tokens: ${symbols}.`,
    );
  }
}
