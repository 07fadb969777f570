import { perApp, type InTx } from "../../../app.ts";
import { second, type Instant } from "../../../kernel/clock.ts";
import { NotFound } from "../../../kernel/errors.ts";
import type { Id, RandomBytes } from "../../../kernel/id.ts";
import { convert, type Rate } from "../../../kernel/money/rate.ts";
import { createRecentStates } from "../../../platform/chain/state/network-state.ts";
import type { Foreseen, Reader } from "../../../platform/database/database.ts";
import { issuingSettingsOf } from "../../organizations/store.ts";
import type { PaymentOption } from "../../organizations/checkout-policy/payment-options.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import { findWallet, hasWallet, receivingWallets, type WalletRow } from "../../wallets/store.ts";
import { AmountTooSmall, NetworkNotReady, NoDefaultWallet, NoWallet } from "../errors.ts";
import type { IssuingDecision } from "../hooks.ts";
import { heldAmounts, searchAmount, type AmountSearch } from "../holds/amount-search.ts";
import { payablePrice } from "../holds/amounts.ts";
import { quoteTerms, tokenDisabled, type InvoiceTerms } from "./terms.ts";

const notReadyRetrySeconds = 10;

/** The states of networks, at most a second old: whether a network was read, and its disabled tokens. */
const recentStatesIn = perApp(({ clock }) => createRecentStates(clock, second));

/** The inputs of an issue that do not depend on its amount, read before its transaction. */
export interface IssueBasis {
  readonly decision: IssuingDecision;
  readonly rate: Rate;
  /** Time after the deadline for which payments still match the invoice, in milliseconds. */
  readonly lateWindowMs: number;
  /** The origins to which payers may be sent back; empty: anywhere. */
  readonly allowedOrigins: readonly string[];
  /** The wallet that the request names; otherwise the network's default and its reserves, in order. At least one. */
  readonly wallets: readonly WalletRow[];
  /** Whether the request names the wallet. */
  readonly isWalletNamed: boolean;
}

/** The inputs of an issue. */
export interface IssuePlan extends IssueBasis {
  readonly terms: InvoiceTerms;
  /** In the token's smallest unit, before any surcharge. */
  readonly price: bigint;
  /** The search for an amount at the first wallet; null if that has an extended key. */
  readonly search: AmountSearch | null;
}

/** Plans an issue if the organization may issue invoices: see `mayIssue` of the hooks. */
export async function planIfAllowed(
  reader: Reader,
  app: InTx,
  at: Instant,
  organizationId: Id<"organization">,
  terms: InvoiceTerms & { readonly walletId: Id<"wallet"> | null },
): Promise<IssuePlan> {
  const decision = await app.hooks.mayIssue(reader, app, organizationId);
  return planIssue(reader, app, decision, organizationId, terms, terms.walletId, at);
}

/**
 * Determines the rate of an invoice and its wallets, once `decision` permits to issue it. Throws an error that says what
 * is missing.
 */
export async function planIssue(
  reader: Reader,
  app: InTx,
  decision: IssuingDecision,
  organizationId: Id<"organization">,
  terms: InvoiceTerms,
  walletId: Id<"wallet"> | null,
  at: Instant,
): Promise<IssuePlan> {
  const basis = await readBasis(reader, app, decision, organizationId, terms, walletId, at);
  return planOf(app, basis, terms);
}

/** Reads the part of a plan that all invoices in the same token, network, currency and wallet share. */
export async function readBasis(
  reader: Reader,
  app: InTx,
  decision: IssuingDecision,
  organizationId: Id<"organization">,
  terms: InvoiceTerms,
  walletId: Id<"wallet"> | null,
  at: Instant,
): Promise<IssueBasis> {
  const rate = await quoteTerms(reader, app, terms, at);
  const wallets = await walletsToTry(reader, organizationId, terms, walletId);
  const state = await recentStatesIn(app)(reader, terms.network.id);
  if (state === null) {
    throw new NetworkNotReady(
      `No block of ${terms.network.title} has been seen yet, so payments could not be detected. Try again shortly; if the problem persists, the operator must check the network's providers.`,
      { retryAfterSeconds: notReadyRetrySeconds },
    );
  }
  if (state.disabledTokens.includes(terms.token.symbol)) {
    throw tokenDisabled(terms.network, terms.token.symbol);
  }
  const settings = await issuingSettingsOf(reader, organizationId);
  return { decision, rate, wallets, isWalletNamed: walletId !== null, ...settings };
}

/** Throws `token_not_enabled` if the token of an option is disabled on its network. */
export async function requireTokensInUse(
  reader: Reader,
  app: InTx,
  options: readonly PaymentOption[],
): Promise<void> {
  for (const { network: id, tokenSymbol } of options) {
    const network = app.networks.enabled.get(id);
    const state = await recentStatesIn(app)(reader, id);
    if (network === undefined || state?.disabledTokens.includes(tokenSymbol) !== true) continue;
    throw tokenDisabled(network, tokenSymbol);
  }
}

/** Completes a plan with the price of an invoice. Throws `amount_too_small`. */
export function planOf(app: InTx, basis: IssueBasis, terms: InvoiceTerms): IssuePlan {
  const exact = convert(terms.amount, basis.rate, terms.tokenAsset, "up").units;
  const isGivenInToken = terms.amount.asset.code === terms.token.symbol;
  const price = payablePrice(exact, terms.token, isGivenInToken);
  if (price >= terms.token.dust) {
    const [wallet] = basis.wallets;
    const search = wallet === undefined ? null : searchAt(app.randomBytes, wallet, terms, price);
    return { ...basis, terms, price, search };
  }
  throw new AmountTooSmall(
    `On ${terms.network.title}, payments of this size are ignored as dust. Choose a larger amount, or combine several in one invoice.`,
  );
}

/** Starts the search for an amount at a wallet; null if that has an extended key, which needs none. */
export function searchAt(
  randomBytes: RandomBytes,
  { organizationId, address, xpub }: WalletRow,
  { network, token, enteredAtLink }: InvoiceTerms,
  price: bigint,
): AmountSearch | null {
  if (xpub !== null || address === null) return null;
  const place = { organizationId, network: network.id, address, token: token.symbol };
  return searchAmount(place, price, token, { holder: null, enteredAtLink }, randomBytes);
}

/** Returns what the write that issues the invoice will ask. */
export function foreseenOf(plan: IssuePlan | null): Foreseen | null {
  const search = plan?.search ?? null;
  return search === null ? null : { question: heldAmounts, asked: search };
}

async function walletsToTry(
  reader: Reader,
  organizationId: Id<"organization">,
  terms: InvoiceTerms,
  walletId: Id<"wallet"> | null,
): Promise<readonly WalletRow[]> {
  const { network } = terms;
  if (walletId === null) {
    const wallets = await receivingWallets(reader, organizationId, network.id);
    if (wallets.length > 0) return wallets;
    if (await hasWallet(reader, organizationId, network.id)) throw noDefaultWallet(network);
    throw new NoWallet(`Register a wallet for ${network.title}, then try again.`);
  }
  const wallet = await requireWallet(reader, organizationId, walletId);
  if (wallet.status === "active" && wallet.network === network.id) return [wallet];
  throw new NoWallet(
    `The wallet in walletId is not an active wallet of ${terms.network.title}. Choose another wallet, or omit walletId.`,
  );
}

/** Returns the problem of an invoice without a walletId on a network whose default and reserves are not active. */
export function noDefaultWallet({
  id,
  title,
}: Pick<Network, "id" | "title">): InstanceType<typeof NoDefaultWallet> {
  return new NoDefaultWallet(
    `The organization has wallets on ${title}, and none that is its active default or a reserve. An owner must choose one with PUT /v1/organizations/{organizationId}/default-wallets/${id}, or the operator with: till wallet default --network ${id} --wallet wal_…. Until then, name a walletId.`,
  );
}

/**
 * Returns the organization's wallet that a request names. A missing wallet and that of another organization get the
 * same 404.
 */
export async function requireWallet(
  reader: Reader,
  organizationId: Id<"organization">,
  walletId: Id<"wallet">,
): Promise<WalletRow> {
  const wallet = await findWallet(reader, organizationId, walletId);
  if (wallet !== null) return wallet;
  throw new NotFound("No wallet with this walletId is visible to this credential.");
}
