import type { Instant } from "../../../kernel/clock.ts";
import { NotFound } from "../../../kernel/errors.ts";
import type { Id, IdSource, RandomBytes } from "../../../kernel/id.ts";
import { convert, type Rate } from "../../../kernel/money/rate.ts";
import type { RecentStates } from "../../../platform/chain/state/network-state.ts";
import type { Foreseen, Reader, Tx } from "../../../platform/database/database.ts";
import { issuingSettingsOf } from "../../organizations/store.ts";
import type { PaymentOption } from "../../organizations/checkout-policy/payment-options.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import { findWallet, hasWallet, receivingWallets, type WalletRow } from "../../wallets/store.ts";
import { AmountTooSmall, NetworkNotReady, NoDefaultWallet, NoWallet } from "../errors.ts";
import { heldAmounts, searchAmount, type AmountSearch } from "../holds/amount-search.ts";
import { payablePrice } from "../holds/amounts.ts";
import { quote, tokenDisabled, type InvoiceTerms, type TermsDependencies } from "./terms.ts";

const notReadyRetrySeconds = 10;

export interface IssueDependencies extends TermsDependencies {
  readonly ids: IdSource;
  readonly randomBytes: RandomBytes;
  readonly recentState: RecentStates;
  /** Supplied by compose, because billing depends on invoices. */
  readonly issuingGate: IssuingGate;
}

/**
 * Throws if the organization may not issue invoices: `organization_not_verified`, or an error of billing. Returns the
 * decision for the issuing transaction.
 */
export type IssuingGate = (
  reader: Reader,
  organizationId: Id<"organization">,
) => Promise<IssuingDecision>;
export interface IssuingDecision {
  /**
   * Decides again on rows that it locks, and counts invoices against the plan's limit. Grants at least one of `count`
   * invoices; throws the gate's errors before it changes anything. `count` 0 requires room for an invoice that counts
   * later.
   */
  grant(tx: Tx, at: Instant, count: number): Promise<Grant>;
  /** Takes invoices that were granted and counted, and that the same transaction does not issue, out of the count. */
  giveBack(tx: Tx, count: number): Promise<void>;
}
export interface Grant {
  /** How many invoices may be issued. */
  readonly count: number;
  /**
   * Whether they were counted, because the plan has a limit. If not, other transactions may share the locks of the
   * grant, and giving back would wait for them.
   */
  readonly isCounted: boolean;
}

/** The decision of a gate without a limit. */
export const unlimited: IssuingDecision = {
  grant: (_tx, _at, count) => Promise.resolve({ count, isCounted: false }),
  giveBack: () => Promise.resolve(),
};

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

/** Determines whether an invoice may be issued, its rate and its wallets. Throws an error that says what is missing. */
export async function planIssue(
  reader: Reader,
  deps: IssueDependencies,
  organizationId: Id<"organization">,
  terms: InvoiceTerms,
  walletId: Id<"wallet"> | null,
  at: Instant,
): Promise<IssuePlan> {
  const basis = await readBasis(reader, deps, organizationId, terms, walletId, at);
  return planOf(deps, basis, terms);
}

/** Reads the part of a plan that all invoices in the same token, network, currency and wallet share. */
export async function readBasis(
  reader: Reader,
  deps: IssueDependencies,
  organizationId: Id<"organization">,
  terms: InvoiceTerms,
  walletId: Id<"wallet"> | null,
  at: Instant,
): Promise<IssueBasis> {
  const decision = await deps.issuingGate(reader, organizationId);
  const rate = await quote(reader, deps, terms, at);
  const wallets = await walletsToTry(reader, organizationId, terms, walletId);
  const state = await deps.recentState(reader, terms.network.id);
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
  { networks, recentState }: Pick<IssueDependencies, "networks" | "recentState">,
  options: readonly PaymentOption[],
): Promise<void> {
  for (const { network: id, tokenSymbol } of options) {
    const network = networks.get(id);
    const state = await recentState(reader, id);
    if (network === undefined || state?.disabledTokens.includes(tokenSymbol) !== true) continue;
    throw tokenDisabled(network, tokenSymbol);
  }
}

/** Completes a plan with the price of an invoice. Throws `amount_too_small`. */
export function planOf(deps: IssueDependencies, basis: IssueBasis, terms: InvoiceTerms): IssuePlan {
  const exact = convert(terms.amount, basis.rate, terms.tokenAsset, "up").units;
  const isGivenInToken = terms.amount.asset.code === terms.token.symbol;
  const price = payablePrice(exact, terms.token, isGivenInToken);
  if (price >= terms.token.dust) {
    const [wallet] = basis.wallets;
    const search = wallet === undefined ? null : searchAt(deps, wallet, terms, price);
    return { ...basis, terms, price, search };
  }
  throw new AmountTooSmall(
    `On ${terms.network.title}, payments of this size are ignored as dust. Choose a larger amount, or combine several in one invoice.`,
  );
}

/** Starts the search for an amount at a wallet; null if that has an extended key, which needs none. */
export function searchAt(
  { randomBytes }: Pick<IssueDependencies, "randomBytes">,
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
