import { second, type Instant } from "../../../kernel/clock.ts";
import { NotFound } from "../../../kernel/errors.ts";
import type { Id, IdSource, RandomBytes } from "../../../kernel/id.ts";
import { convert, formatRate, type Rate } from "../../../kernel/money/rate.ts";
import type { RecentStates } from "../../../platform/chain/state/network-state.ts";
import type { Reader, Tx } from "../../../platform/database/index.ts";
import { lateWindowOf } from "../../organizations/index.ts";
import {
  findWallet,
  keepActive,
  receivingWallets,
  takeAddress,
  type WalletRow,
} from "../../wallets/index.ts";
import { AmountTooSmall, NetworkNotReady, NoWallet, WalletCapacityExhausted } from "../errors.ts";
import { holdAddress, holdAmount, type HoldRequest } from "../holds/holds.ts";
import { dueAmount } from "../rules.ts";
import type { InvoiceRow } from "../store.ts";
import { quote, tokenNotEnabled, type InvoiceTerms, type TermsDependencies } from "./terms.ts";

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
   * invoices; throws the gate's errors before it changes anything.
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
  /** In the order in which they are tried. */
  readonly wallets: readonly WalletRow[];
}

/** The inputs of an issue. */
export interface IssuePlan extends IssueBasis {
  readonly terms: InvoiceTerms;
  /** In the token's smallest unit, before any surcharge. */
  readonly price: bigint;
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
  return planOf(await readBasis(reader, deps, organizationId, terms, walletId, at), terms);
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
  if (wallets.length === 0) {
    throw new NoWallet(`Register a wallet for ${terms.network.title}, then try again.`);
  }
  const state = await deps.recentState(reader, terms.network.id);
  if (state === null) {
    throw new NetworkNotReady(
      `No block of ${terms.network.title} has been seen yet, so payments could not be detected. Try again shortly; if the problem persists, the operator must check the network's providers.`,
      { retryAfterSeconds: notReadyRetrySeconds },
    );
  }
  if (state.disabledTokens.includes(terms.token.symbol)) throw tokenNotEnabled(terms.network);
  const lateWindowMs = await lateWindowOf(reader, organizationId);
  return { decision, rate, lateWindowMs, wallets };
}

/** Completes a plan with the price of an invoice. Throws `amount_too_small`. */
export function planOf(basis: IssueBasis, terms: InvoiceTerms): IssuePlan {
  const price = convert(terms.amount, basis.rate, terms.tokenAsset, "up").units;
  if (price >= terms.token.dust) return { ...basis, terms, price };
  throw new AmountTooSmall(
    `On ${terms.network.title}, payments of this size are ignored as dust. Choose a larger amount, or combine several in one invoice.`,
  );
}

async function walletsToTry(
  reader: Reader,
  organizationId: Id<"organization">,
  terms: InvoiceTerms,
  walletId: Id<"wallet"> | null,
): Promise<readonly WalletRow[]> {
  const network = terms.network.id;
  if (walletId === null) return receivingWallets(reader, organizationId, network);
  const wallet = await requireWallet(reader, organizationId, walletId);
  if (wallet.status === "active" && wallet.network === network) return [wallet];
  throw new NoWallet(
    `The wallet in walletId is not an active wallet of ${terms.network.title}. Choose another wallet, or omit walletId.`,
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

/**
 * Returns the draft as issued, and takes its hold; does not store the invoice. The permission to issue and the wallet's
 * status are checked again, because both may have changed since the plan was read.
 */
export async function issue(
  tx: Tx,
  deps: IssueDependencies,
  draft: InvoiceRow,
  plan: IssuePlan,
  at: Instant,
): Promise<InvoiceRow> {
  await plan.decision.grant(tx, at, 1);
  return placeInvoice(tx, deps, draft, plan, at, (walletId) => keepActive(tx, walletId));
}

/**
 * Returns the draft as issued, and takes its hold, as `issue` does after its decision. If it throws, it leaves no
 * hold. `isActive` returns whether a wallet is active and stays so until the transaction ends.
 */
export async function placeInvoice(
  tx: Tx,
  deps: IssueDependencies,
  draft: InvoiceRow,
  plan: IssuePlan,
  at: Instant,
  isActive: (walletId: Id<"wallet">) => Promise<boolean>,
): Promise<InvoiceRow> {
  const expiresAt = at + draft.expiresInSeconds * second;
  let hasWallet = false;
  for (const wallet of plan.wallets) {
    if (!(await isActive(wallet.id))) continue;
    hasWallet = true;
    const place = await takePlace(tx, deps, draft, plan, wallet, at, expiresAt);
    if (place === null) continue;
    return {
      ...draft,
      ...place,
      remainingAmount: place.payableAmount,
      status: "open",
      checkoutId: deps.ids.unguessable("chk"),
      exchangeRate: formatRate(plan.rate),
      walletId: wallet.id,
      requiredConfirmations: plan.terms.network.confirmations,
      issuedAt: at,
      expiresAt,
    };
  }
  if (!hasWallet) {
    throw new NoWallet("The wallet has just been archived. Choose another wallet, then try again.");
  }
  throw new WalletCapacityExhausted(
    "Other invoices hold every amount near this price at the wallet. Register another wallet, or an extended public key, which gives every invoice its own address.",
  );
}

type Place = Required<Pick<InvoiceRow, "payableAmount" | "walletAddress" | "addressIndex">>;

/** Takes an address or an amount that distinguishes the invoice at one wallet; null if none is free. */
async function takePlace(
  tx: Tx,
  deps: IssueDependencies,
  draft: InvoiceRow,
  plan: IssuePlan,
  wallet: WalletRow,
  startsAt: Instant,
  expiresAt: Instant,
): Promise<Place | null> {
  const { terms, price } = plan;
  const request = (address: string): HoldRequest => ({
    invoiceId: draft.id,
    organizationId: draft.organizationId,
    network: terms.network.id,
    address,
    token: terms.token.symbol,
    tokenDecimals: terms.token.decimals,
    leastOf: (amount) => dueAmount(amount, terms.tolerance),
    startsAt,
    endsAt: expiresAt + plan.lateWindowMs,
  });
  const shown = (address: string) => terms.network.kind.formatAddress(address);
  const { xpub, address } = wallet;
  if (xpub !== null) {
    const taken = await takeAddress(tx, { ...wallet, xpub }, terms.network.kind);
    if (taken === null) return null;
    await holdAddress(tx, deps, request(taken.address));
    return {
      payableAmount: price,
      walletAddress: shown(taken.address),
      addressIndex: taken.index,
    };
  }
  if (address === null) return null;
  const held = await holdAmount(tx, deps, request(address), price);
  if (held === null) return null;
  return { payableAmount: held, walletAddress: shown(address), addressIndex: null };
}
