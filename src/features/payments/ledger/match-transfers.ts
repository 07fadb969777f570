import type { InTx } from "../../../app.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Tx } from "../../../platform/database/database.ts";
import {
  noShare,
  quoteFor,
  tokensOf,
  worthOf,
  type Quote,
  type Share,
} from "../../invoices/options/quotes.ts";
import type { PayableTerms } from "../../invoices/settlement/terms-to-pay.ts";
import type { WaitingReason } from "../inbox/status.ts";
import type { PaymentRow, TransferRow } from "../table.ts";
import { matchHolds } from "../../invoices/holds/matching.ts";
import { billedOrganization } from "../../invoices/managed.ts";
import { lockTerms } from "../../invoices/settlement/settlement.ts";
import { lateReviewers } from "../../organizations/store.ts";
import { addressOwners } from "../../wallets/store.ts";
import { groupBy } from "./chain-diff.ts";
import {
  firstStatus,
  followTransfers,
  isCounted,
  plusPayment,
  shareOfPayments,
} from "./payment-rules.ts";
import { allocationsOf, lockPayments, takeOffChain } from "./store.ts";
import { changedTransfers, takesDust, type ChangedTransfers } from "./transfer-rules.ts";
import type { ChainContext, ChainDiffInput, Match, PaymentChange, TermsOf } from "./types.ts";

type MatchesOf = ReadonlyMap<Id<"transfer">, Match>;

/** The changed transfers with the locked invoices and payments that they affect. */
export interface MatchedTransfers extends ChangedTransfers, DecidedMatches {
  /** The fresh and moved transfers that belonged to no invoice, and were matched now. */
  readonly free: ReadonlySet<Id<"transfer">>;
  /** The terms of every invoice that a changed transfer or a verified payment belongs to. */
  readonly terms: TermsOf;
  /** Every payment of these invoices, before and after the changes on the chain. */
  readonly payments: readonly PaymentChange[];
}

/**
 * Takes moved and orphaned transfers off their old positions, so that others can take these, matches the transfers that
 * belong to no invoice yet, locks the invoices and payments of all of them, and lets the payments follow their transfers.
 */
export async function matchTransfers(
  tx: Tx,
  { ids }: InTx,
  input: ChainDiffInput,
): Promise<MatchedTransfers> {
  const found = changedTransfers(ids, input);
  const leaving = [...found.orphaned, ...found.moved].map(({ id }) => id);
  await takeOffChain(tx, leaving);
  const allocations = await allocationsOf(tx, leaving);
  const allocated = new Set(allocations.map(({ transferId }) => transferId));
  const free = [...found.fresh, ...found.moved].filter(
    ({ id, invoiceId }) => invoiceId === null && !allocated.has(id),
  );
  const matching = await findMatches(tx, input, found, free);

  const paying = [
    ...allocations,
    ...matching.values(),
    ...input.verified.map((one) => one.payment),
  ];
  const invoiceIds = [...new Set(paying.map(({ invoiceId }) => invoiceId))].sort();
  const terms = await lockTermsFor(tx, invoiceIds, found, matching);
  const { changed, proposed } = withoutDust(found, matching, terms);
  const timed = capTimes(changed, proposed, terms);
  const stored = await lockPayments(tx, invoiceIds);
  const payments = followTransfers(stored, timed, input);
  const decided = acceptedMatches(
    timed,
    proposed,
    await ownMoney(tx, input, free, proposed, terms),
    terms,
    payments.map(({ after }) => after),
  );
  return {
    // A transfer that is not credited keeps its own time: it belongs to no invoice, whose deadline would say nothing.
    ...capTimes(changed, decided.matches, terms),
    ...decided,
    free: new Set(free.map(({ id }) => id)),
    terms,
    payments,
  };
}

/** Returns the matches of transfers that belonged to no invoice and that can pay one. */
async function findMatches(
  tx: Tx,
  { network, state, marks, difference }: ChainDiffInput,
  { uncertain, creditable, dust, fresh }: ChangedTransfers,
  free: readonly TransferRow[],
): Promise<MatchesOf> {
  const able = free.filter(({ id }) => creditable.has(id) || dust.has(id));
  if (able.length === 0) return new Map();
  const isFresh = new Set(fresh.map(({ id }) => id));
  // A transfer that was first seen above an invoice's mark came after it, wherever a reorganization puts it.
  const seenAt = new Map(
    difference.moved.map(({ transfer }) => [transfer.id, transfer.blockHeight] as const),
  );
  const matches = await matchHolds(
    tx,
    network,
    able.map(({ id, token, toAddress, amount, blockTime, blockHeight, createdAt }) => ({
      key: id,
      token,
      address: toAddress,
      amount,
      blockTime: uncertain.has(id) ? null : blockTime,
      blockHeight: Math.max(blockHeight, seenAt.get(id) ?? 0),
      recordedAt: isFresh.has(id) ? null : createdAt,
    })),
    { tipHeight: state.tipHeight, hashes: marks },
  );
  return new Map(
    able.flatMap(({ id }) => {
      const match = matches.get(id);
      return match === undefined ? [] : [[id, match] as const];
    }),
  );
}

/**
 * Leaves out the matches of dust that no invoice takes. Dust that one takes is a transfer like any other: if it is not
 * credited, it waits in the inbox.
 */
function withoutDust(
  found: ChangedTransfers,
  matching: MatchesOf,
  terms: TermsOf,
): { readonly changed: ChangedTransfers; readonly proposed: MatchesOf } {
  if (found.dust.size === 0) return { changed: found, proposed: matching };
  const taken = new Set<Id<"transfer">>();
  for (const row of [...found.fresh, ...found.moved]) {
    const match = matching.get(row.id);
    if (match === undefined) continue;
    const asked = terms.get(match.invoiceId);
    if (asked !== undefined && takesDust(match, asked, row)) taken.add(row.id);
  }
  const fresh = found.fresh.map((row): TransferRow =>
    taken.has(row.id) ? { ...row, verification: "open", disposition: "unmatched" } : row,
  );
  const isProposed = (id: Id<"transfer">) => !found.dust.has(id) || taken.has(id);
  return {
    changed: { ...found, fresh },
    proposed: new Map([...matching].filter(([id]) => isProposed(id))),
  };
}

/**
 * Returns the matched transfers that the organization of their invoice sent from a wallet of its own, which may be
 * archived. Such a transfer is not a payment, except for a platform invoice that bills the same organization.
 */
async function ownMoney(
  tx: Tx,
  { network }: ChainContext,
  free: readonly TransferRow[],
  matches: MatchesOf,
  terms: TermsOf,
): Promise<ReadonlySet<Id<"transfer">>> {
  const matched = free.flatMap(({ id, fromAddress }) => {
    const asked = terms.get(matches.get(id)?.invoiceId ?? "inv_");
    return asked === undefined ? [] : [{ id, fromAddress, asked }];
  });
  const senders = await addressOwners(
    tx,
    network.addressFamily,
    matched.map(({ fromAddress }) => fromAddress),
  );
  const own = matched.filter(({ fromAddress, asked: { organizationId, invoice } }) => {
    const isOwn = senders.get(fromAddress) === organizationId;
    return isOwn && billedOrganization(invoice) !== organizationId;
  });
  return new Set(own.map(({ id }) => id));
}

/** Locks invoices and returns their terms. Reads the organizations' late-payment policies only if a transfer is late. */
async function lockTermsFor(
  tx: Tx,
  invoiceIds: readonly Id<"invoice">[],
  { fresh, moved }: ChangedTransfers,
  matches: MatchesOf,
): Promise<TermsOf> {
  if (invoiceIds.length === 0) return new Map();
  const terms = await lockTerms(tx, invoiceIds);
  const late = [...fresh, ...moved].flatMap(({ id, blockTime }) => {
    const asked = terms.get(matches.get(id)?.invoiceId ?? "inv_");
    return asked !== undefined && blockTime > asked.expiresAt ? [asked.organizationId] : [];
  });
  if (late.length === 0) return terms;
  const reviewers = await lateReviewers(tx, late);
  return new Map(
    [...terms].map(([id, asked]) => {
      const latePolicy = reviewers.has(asked.organizationId) ? "review" : asked.latePolicy;
      return [id, { ...asked, latePolicy }];
    }),
  );
}

/**
 * Returns the transfers with times that make no payment late on the word of a single provider: without a second one,
 * the block time is capped at the deadline of the transfer's invoice.
 */
function capTimes(changed: ChangedTransfers, matches: MatchesOf, terms: TermsOf): ChangedTransfers {
  const capped = (row: TransferRow): TransferRow => {
    const invoiceId = matches.get(row.id)?.invoiceId ?? row.invoiceId;
    const asked = invoiceId === null ? undefined : terms.get(invoiceId);
    if (!changed.uncertain.has(row.id) || asked === undefined) return row;
    return { ...row, blockTime: Math.min(row.blockTime, asked.expiresAt) };
  };
  return { ...changed, fresh: changed.fresh.map(capped), moved: changed.moved.map(capped) };
}

type AskingTerms = Pick<
  PayableTerms,
  | "payableAmount"
  | "dueAmount"
  | "tolerance"
  | "rounding"
  | "remainingAmount"
  | "network"
  | "tokenSymbol"
>;

/**
 * Returns true if an invoice of which a share is paid still asks for an amount in the token of one of its quotes: it is
 * not fully paid, and the amount is at most the missing part, or equals the amount that a hold reserves for the missing
 * part.
 */
export function asksFor(terms: AskingTerms, share: Share, quote: Quote, amount: bigint): boolean {
  if (tokensOf(share, terms) >= terms.dueAmount) return false;
  const { payableAmount, network, tokenSymbol } = quote;
  const seen = worthOf(share, payableAmount);
  const isInForce = network === terms.network && tokenSymbol === terms.tokenSymbol;
  const remaining = isInForce
    ? terms.remainingAmount
    : quote.remainingAfter === seen
      ? quote.remainingAmount
      : null;
  return amount <= payableAmount - seen || amount === remaining;
}

/** The proposed matches of transfers, decided. */
interface DecidedMatches {
  /** The matches that become payments. */
  readonly matches: ReadonlyMap<Id<"transfer">, Match>;
  /** Why the others wait for the merchant. */
  readonly withheld: ReadonlyMap<Id<"transfer">, WaitingReason>;
}

/**
 * Decides on matches in the order of the chain, so that the first of two equal transfers pays. `ownMoney` holds the
 * transfers that the organization of their invoice sent from a wallet of its own: they are not payments of a customer, so the merchant
 * decides. On a shared address, an amount identifies an invoice only while the invoice still asks for it: afterwards it
 * may be a stranger's payment of a round amount (docs/decisions/0019), so the merchant decides. The same holds for a
 * recycled amount, which may be a late payment of an earlier invoice (0022). An exclusive address takes any amount of
 * a token for which the invoice has a rate, unless an earlier invoice had it and may still be paid (0059); another token
 * never pays. `payments` holds the payments of all invoices in
 * `terms`, after the changes on the chain.
 */
export function acceptedMatches(
  { fresh, moved }: Pick<ChangedTransfers, "fresh" | "moved">,
  proposed: ReadonlyMap<Id<"transfer">, Match>,
  ownMoney: ReadonlySet<Id<"transfer">>,
  terms: ReadonlyMap<Id<"invoice">, PayableTerms>,
  payments: readonly PaymentRow[],
): DecidedMatches {
  const ledgers = groupBy(payments.filter(isCounted), ({ invoiceId }) => invoiceId);
  const shares = new Map<string, Share>();
  for (const [invoiceId, ledger] of ledgers) {
    const asked = terms.get(invoiceId);
    if (asked !== undefined) shares.set(invoiceId, shareOfPayments(ledger, asked));
  }
  const matches = new Map<Id<"transfer">, Match>();
  const withheld = new Map<Id<"transfer">, WaitingReason>();
  for (const transfer of [...moved, ...fresh].toSorted(byPosition)) {
    const match = proposed.get(transfer.id);
    const asked = terms.get(match?.invoiceId ?? "inv_");
    const quote = quoteFor(asked?.quotes ?? [], transfer);
    if (match === undefined || asked === undefined || quote === undefined) continue;
    const before = shares.get(match.invoiceId) ?? noShare;
    const reason = ownMoney.has(transfer.id)
      ? "own_wallet"
      : withheldReason(match, asked, before, quote, transfer.amount);
    if (reason !== null) {
      withheld.set(transfer.id, reason);
      continue;
    }
    matches.set(transfer.id, match);
    const isMoney = firstStatus(transfer.blockTime, asked) === "confirming";
    if (isMoney) shares.set(match.invoiceId, plusPayment(before, transfer, asked));
  }
  return { matches, withheld };
}

/** Returns why a match proves nothing; null if the transfer pays. */
function withheldReason(
  match: Match,
  asked: AskingTerms,
  before: Share,
  quote: Quote,
  amount: bigint,
): WaitingReason | null {
  if (match.rule === "exclusive_address") return match.objection ?? null;
  if (match.objection === "ambiguous_amount") return match.objection;
  return asksFor(asked, before, quote, amount) ? (match.objection ?? null) : "not_asked";
}

function byPosition(one: TransferRow, other: TransferRow): number {
  return one.blockHeight - other.blockHeight || one.logIndex - other.logIndex;
}
