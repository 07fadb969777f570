import { bind, type Bound } from "../../../kernel/bind.ts";
import type { Clock, Instant } from "../../../kernel/clock.ts";
import type { ChainClient, Receipt } from "../../../platform/chain/client.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import { ProviderError } from "../../../platform/chain/providers/error.ts";
import { receiptOrLogs } from "../../../platform/chain/providers/probe.ts";
import { restSubject, type ChainAlarms } from "../../../platform/chain/state/alarms.ts";
import { networkState } from "../../../platform/chain/state/network-state.ts";
import { endAlarms as endStoredAlarms } from "../../../platform/chain/state/provider-store.ts";
import type { Database, Tx, WriteContext } from "../../../platform/database/database.ts";
import { systemContext } from "../../../platform/database/system-context.ts";
import { LeaseLost } from "../../../platform/jobs/leases.ts";
import type { Logger } from "../../../platform/logger/index.ts";
import { assertConfirmable, heldAlarm, opinionOf } from "../../payments/networks/held.ts";
import { HeldNotConfirmed } from "../../payments/errors.ts";
import type { RefundLedger } from "../../payments/refunds/refundable.ts";
import { addressOwners } from "../../wallets/store.ts";
import { withdrawn, writeRefund, type RefundJournal } from "../changes.ts";
import {
  attemptsMax,
  denialsMax,
  heldAttemptsMax,
  refusalOf,
  retryAt,
  unexamined,
  waitMs,
} from "./evidence.ts";
import { viewOf, type HeldRefund, type RefundOpinion } from "../present.ts";
import type { RefundRefusal } from "../status.ts";
import { dueRefunds, lockRefund, saveRefund, sentAmong } from "../store.ts";
import type { RefundRow } from "../table.ts";

/** Called in the transaction of each change; throws if this process may no longer write. */
type Guard = (tx: Tx) => Promise<void>;

export interface RefundExaminerDeps extends RefundJournal {
  readonly db: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly network: Network;
  /** The individual providers. */
  readonly providers: readonly ChainClient[];
  readonly payments: RefundLedger;
  readonly alarms?: ChainAlarms;
}

/** Verifies the transactions that merchants named for refunds on one network. */
export type RefundExaminer = { readonly network: Network } & Bound<typeof methods>;

/** The number of refunds that are examined concurrently. */
const batchMax = 20;

const context = systemContext("refunds");

/** A provider's receipt of the named transaction, and why it does not pay the refund; null if it does. */
interface Finding {
  readonly receipt: Receipt;
  readonly refusal: RefundRefusal | null;
}

/**
 * The result of an examination. `waiting`: the block is not final. `held`: the block is final for one provider, and
 * another one contradicts it (`isContradicted`) or has no receipt. `unknown`: no provider has a receipt; `isAway` if one did not answer.
 * `unread`: none answered.
 */
type Verdict =
  | { readonly refused: RefundRefusal }
  | { readonly confirmed: Receipt }
  | { readonly waiting: Finding }
  | { readonly held: Finding; readonly provider: string; readonly isContradicted: boolean }
  | { readonly unknown: { readonly isAway: boolean } }
  | "unread";

const methods = { examine, findHeld, confirmHeld };

const heldKinds = ["refund_held"] as const;

export function makeRefundExaminer(deps: RefundExaminerDeps): RefundExaminer {
  const { network } = deps;
  const logger = deps.logger.child({ network: network.id });
  return { network, ...bind({ ...deps, logger }, methods) };
}

/**
 * Examines a bounded batch of due refunds, after a scan of the watcher and under its lease. Returns true if more may be
 * due.
 */
async function examine(deps: RefundExaminerDeps, guard: Guard): Promise<boolean> {
  const { db, clock, network } = deps;
  const state = await networkState(db, network.id);
  if (state === null) return false;
  const { cursorHeight } = state;
  await endAlarms(deps);
  const due = await dueRefunds(db, network.id, clock.now(), cursorHeight, batchMax);
  await Promise.all(due.map((refund) => examineOne(deps, refund, cursorHeight, guard)));
  return due.length === batchMax;
}

/** Examines one refund. A failure postpones it and does not block the others. */
async function examineOne(
  deps: RefundExaminerDeps,
  refund: RefundRow,
  cursorHeight: number,
  guard: Guard,
): Promise<void> {
  try {
    if (refund.status === "confirmed") await reopen(deps, refund, guard);
    else await conclude(deps, refund, await verdictOn(deps, refund, cursorHeight), guard);
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    deps.logger.error({ refund: refund.id, err: error }, "a refund could not be examined");
    await conclude(deps, refund, "unread", guard);
  }
}

/** Asks providers until two agree, or the only one. */
async function verdictOn(
  deps: RefundExaminerDeps,
  refund: RefundRow,
  cursorHeight: number,
): Promise<Verdict> {
  const { providers } = deps;
  const needed = Math.min(2, providers.length);
  const missing = new Map<ChainClient, { readonly provider: string; readonly isAway: boolean }>();
  let first: Finding | null = null;
  const left = [...providers];
  for (const client of left) {
    const { provider } = client;
    const found = await receiptOf(deps, client, refund, first?.receipt ?? null);
    if (found === null || found === "away") {
      missing.set(client, { provider, isAway: found === "away" });
      continue;
    }
    const finding = { receipt: found, refusal: await judge(deps, refund, found) };
    if (finding.refusal !== null && found.unreadableLogs !== undefined) {
      missing.set(client, { provider, isAway: true });
      continue;
    }
    missing.delete(client);
    if (found.blockHeight > cursorHeight) return { waiting: finding };
    if (first !== null && !agrees(first, finding)) {
      return { held: first, provider, isContradicted: true };
    }
    if (first === null && needed === 2) {
      first = finding;
      // The block is known now, so providers without the receipt are asked for its logs.
      left.push(...[...missing].filter(([, { isAway }]) => !isAway).map(([silent]) => silent));
    } else if (finding.refusal === null) return { confirmed: found };
    else return { refused: finding.refusal };
  }
  const absences = [...missing.values()];
  const [absent] = absences;
  if (first === null || absent === undefined) {
    const isUnread = absences.every(({ isAway }) => isAway);
    return isUnread ? "unread" : { unknown: { isAway: absences.some(({ isAway }) => isAway) } };
  }
  // A refund that one provider contradicted is never confirmed by another one alone, not even after a restart.
  const isOutOfPatience =
    refund.blockHash === first.receipt.blockHash &&
    refund.heldAttempts >= heldAttemptsMax &&
    deps.alarms?.holds("refund_held", refund.id) !== true;
  if (isOutOfPatience && first.refusal === null) return { confirmed: first.receipt };
  return { held: first, provider: absent.provider, isContradicted: false };
}

function agrees(one: Finding, other: Finding): boolean {
  return one.receipt.blockHash === other.receipt.blockHash && one.refusal === other.refusal;
}

/** Reads the receipt of a refund's transaction, or the logs of the block in which another provider has it. */
async function receiptOf(
  { network }: RefundExaminerDeps,
  provider: ChainClient,
  refund: RefundRow,
  placed: Receipt | null,
): Promise<Receipt | null | "away"> {
  const contracts = network.tokens.map(({ contract }) => contract);
  try {
    if (placed !== null) return await receiptOrLogs(provider, placed, contracts);
    return await provider.receipt(refund.transactionHash ?? "");
  } catch (error) {
    if (error instanceof ProviderError) return "away";
    throw error;
  }
}

async function judge(
  { db, network }: RefundExaminerDeps,
  refund: RefundRow,
  receipt: Receipt,
): Promise<RefundRefusal | null> {
  const senders = receipt.transfers.map(({ from }) => from);
  const owners = await addressOwners(db, network.addressFamily, senders);
  return refusalOf(receipt, refund, network, owners);
}

/** Stores the result of an examination, unless the refund has changed meanwhile. */
async function conclude(
  deps: RefundExaminerDeps,
  examined: RefundRow,
  verdict: Verdict,
  guard: Guard,
): Promise<void> {
  await deps.db.write(context, async (tx) => {
    await guard(tx);
    const refusal = finalRefusal(examined, verdict);
    if (refusal !== null) {
      await takeBack(deps, tx, examined, refusal);
      return;
    }
    const refund = await lockUnchanged(tx, examined);
    if (refund === null) return;
    if (typeof verdict === "object" && "confirmed" in verdict) {
      await confirm(deps, tx, refund, verdict.confirmed);
    } else await saveRefund(tx, { ...refund, ...postponed(refund, verdict, deps.clock.now()) });
  });
  report(deps, examined, verdict);
}

/** Confirms a locked refund by the receipt that pays it. */
function confirm(
  deps: RefundExaminerDeps,
  tx: Tx,
  refund: RefundRow,
  { blockHeight, blockHash }: Receipt,
): Promise<RefundRow> {
  const at = deps.clock.now();
  const found = { ...unexamined, blockHeight, blockHash, refusal: null };
  const confirmed = { ...refund, ...found, updatedAt: at, confirmedAt: at };
  return writeRefund(tx, deps, refund, { ...confirmed, status: "confirmed" }, "refund.confirmed");
}

/** Returns what an examination without a result changes: the block, the refusal so far, and the next attempt. */
function postponed(refund: RefundRow, verdict: Verdict, at: Instant): Partial<RefundRow> {
  if (typeof verdict === "object" && "unknown" in verdict) {
    return { ...afterUnknown(refund, verdict.unknown), nextAt: retryAt(refund.attempts + 1, at) };
  }
  if (typeof verdict === "object" && ("waiting" in verdict || "held" in verdict)) {
    const isHeld = "held" in verdict;
    const finding = isHeld ? verdict.held : verdict.waiting;
    const { refusal } = finding;
    const { blockHeight, blockHash } = storedBlock(finding);
    const found = { ...unexamined, blockHeight, blockHash, refusal };
    if (!isHeld) return { ...found, nextAt: at + waitMs };
    const heldAttempts = (isSameFinding(refund, finding) ? refund.heldAttempts : 0) + 1;
    return { ...found, heldAttempts, nextAt: retryAt(heldAttempts, at) };
  }
  return { nextAt: at + waitMs };
}

/** Returns the attempts after an examination in which no provider had a receipt. A provider that is away denies nothing. */
function afterUnknown(
  { attempts, denials }: RefundRow,
  { isAway }: { readonly isAway: boolean },
): Pick<RefundRow, "attempts" | "denials"> {
  return { attempts: attempts + 1, denials: denials + (isAway ? 0 : 1) };
}

/**
 * Returns the block that a refund stores of a finding: none of a transaction that does not pay the refund, so that the
 * merchant can name another one at once.
 */
function storedBlock({ receipt, refusal }: Finding): Pick<RefundRow, "blockHeight" | "blockHash"> {
  const { blockHeight, blockHash } = receipt;
  return refusal === null ? { blockHeight, blockHash } : { blockHeight: null, blockHash: null };
}

/** Whether an examination found what the refund stores of the one before. */
function isSameFinding(refund: RefundRow, finding: Finding): boolean {
  return refund.blockHash === storedBlock(finding).blockHash && refund.refusal === finding.refusal;
}

/**
 * Raises an alarm when a refund is contradicted, or held for long. Only agreement of providers ends it: a provider that
 * does not answer any more has not withdrawn its contradiction.
 */
function report(
  { alarms, network }: RefundExaminerDeps,
  refund: RefundRow,
  verdict: Verdict,
): void {
  if (typeof verdict !== "object") return;
  if ("confirmed" in verdict || "refused" in verdict) alarms?.clear("refund_held", refund.id);
  if (!("held" in verdict)) return;
  const { provider, isContradicted } = verdict;
  const isHeldLong = refund.heldAttempts >= heldAttemptsMax && isSameFinding(refund, verdict.held);
  if (isContradicted || isHeldLong) {
    alarms?.raise(
      "refund_held",
      refund.id,
      `a refund is held: a provider contradicts another one about its transaction, or does not have it (${provider}). ` +
        `Check a block explorer; till refund confirm-held ${refund.id} --reason "…" confirms a refund that one provider has`,
      { refund: refund.id, network: network.id, transactionHash: refund.transactionHash, provider },
    );
  }
}

/**
 * Returns a held refund, and asks every provider about its transaction now. Throws HeldNotConfirmed if it is not held, or
 * no provider has a transaction that pays it.
 */
async function findHeld(deps: RefundExaminerDeps, refund: RefundRow): Promise<HeldRefund> {
  const { db, network, networks, providers } = deps;
  if (refund.status !== "sent") throw new HeldNotConfirmed(`${refund.id} is ${refund.status}.`);
  const alarm = await heldAlarm(db, { network: network.id, kinds: heldKinds, id: refund.id });
  const receipts = await Promise.all(
    providers.map(async (client) => {
      const receipt = await receiptOf(deps, client, refund, null);
      if (receipt === null || receipt === "away") return null;
      return (await judge(deps, refund, receipt)) === null ? receipt : null;
    }),
  );
  const paying = receipts.find((receipt) => receipt !== null);
  if (paying === undefined) {
    throw new HeldNotConfirmed(
      "No provider has a transaction that pays it now. Check the transaction in a block explorer, and the providers with " +
        "till chain status --probe.",
    );
  }
  const opinions = await Promise.all(
    providers.map(async (client) => {
      const readEvidence = () => evidenceOf(deps, client, refund, paying);
      return { provider: client.provider, opinion: await opinionOf(client, paying, readEvidence) };
    }),
  );
  // The contradiction may have been about a transaction that the merchant replaced.
  const heldSince = Math.max(alarm.raisedAt, refund.sentAt ?? 0);
  return { ...viewOf(refund, networks), heldSince, paying, opinions };
}

/** Compares a provider's receipt or logs with the receipt that pays a refund; null if the provider has neither. */
async function evidenceOf(
  deps: RefundExaminerDeps,
  client: ChainClient,
  refund: RefundRow,
  paying: Receipt,
): Promise<RefundOpinion | null> {
  const contracts = deps.network.tokens.map(({ contract }) => contract);
  const receipt = await receiptOrLogs(client, paying, contracts);
  if (receipt === null) return null;
  if (receipt.blockHash !== paying.blockHash) {
    return { disagrees: "the transaction is in another block" };
  }
  const refusal = await judge(deps, refund, receipt);
  if (refusal === null) return "agrees";
  return receipt.unreadableLogs === undefined ? { denies: refusal } : "is_away";
}

/**
 * Confirms a held refund although providers contradict each other about the transfers in its transaction. One provider
 * must have a final transaction that pays it now, and every other one must answer and have the same block. Throws
 * HeldNotConfirmed.
 */
async function confirmHeld(
  deps: RefundExaminerDeps,
  operator: WriteContext,
  examined: RefundRow,
  reason: string,
): Promise<HeldRefund> {
  const { db, clock, network, networks, journal } = deps;
  const held = await findHeld(deps, examined);
  const { paying, opinions } = held;
  const undenied = opinions.flatMap(({ provider, opinion }) =>
    typeof opinion === "object" && "denies" in opinion ? [] : [{ provider, opinion }],
  );
  assertConfirmable(undenied, held.heldSince, clock.now());
  return db.write(operator, async (tx) => {
    const state = await networkState(tx, network.id);
    if (state === null || paying.blockHeight > state.cursorHeight) {
      throw new HeldNotConfirmed("Its block is not final yet. Wait until it is.");
    }
    const refund = await lockUnchanged(tx, examined);
    if (refund === null) {
      throw new HeldNotConfirmed("It does not wait for its confirmation any more.");
    }
    await heldAlarm(tx, { network: network.id, kinds: heldKinds, id: refund.id });
    const confirmed = await confirm(deps, tx, refund, paying);
    const at = clock.now();
    await endStoredAlarms(tx, { network: network.id, kinds: heldKinds, subject: refund.id }, at);
    const { transactionHash, blockHash } = paying;
    journal.record(tx, at, {
      action: "refund.held_confirmed",
      organizationId: refund.organizationId,
      subjectType: "refund",
      subjectId: refund.id,
      changes: { network: network.id, transactionHash, blockHash, reason, opinions },
    });
    return { ...held, ...viewOf(confirmed, networks) };
  });
}

/** Ends the alarms of refunds that are no longer examined. */
async function endAlarms({ alarms, db }: RefundExaminerDeps): Promise<void> {
  const held = (alarms?.open() ?? [])
    .filter(({ kind, subject }) => kind === "refund_held" && subject !== restSubject)
    .map(({ subject }) => subject);
  if (held.length === 0) return;
  const sent = await sentAmong(db, held);
  for (const id of held) if (!sent.has(id)) alarms?.clear("refund_held", id);
}

/** Returns why a refund's transaction is refused for good; null if it is not. */
function finalRefusal(refund: RefundRow, verdict: Verdict): RefundRefusal | null {
  if (typeof verdict !== "object") return null;
  if ("refused" in verdict) return verdict.refused;
  if (!("unknown" in verdict)) return null;
  const { attempts, denials } = afterUnknown(refund, verdict.unknown);
  if (denials < denialsMax && attempts < attemptsMax) return null;
  return refund.blockHash === null ? "unknown" : "reverted";
}

/** Returns a refund that was sent to the requested ones. */
async function takeBack(
  deps: RefundExaminerDeps,
  tx: Tx,
  examined: RefundRow,
  refusal: RefundRefusal,
): Promise<void> {
  const found = await deps.payments.lock(tx, examined.organizationId, examined.paymentId);
  const refund = await lockUnchanged(tx, examined);
  if (refund === null) return;
  const at = deps.clock.now();
  const isCovered = await deps.payments.takeBack(tx, found, refund.amount, at);
  const { transactionHash: refusedHash } = refund;
  const back: RefundRow = {
    ...refund,
    status: "requested",
    transactionHash: null,
    blockHeight: null,
    blockHash: null,
    ...unexamined,
    refusal,
    refusedHash,
    sentAt: null,
    confirmedAt: null,
    updatedAt: at,
  };
  if (isCovered) await writeRefund(tx, deps, refund, back, "refund.reverted");
  else await writeRefund(tx, deps, refund, withdrawn(back, at), "refund.rejected");
}

/** Returns a confirmed refund to the sent ones: the chain has replaced the final block of its transaction. */
async function reopen(deps: RefundExaminerDeps, examined: RefundRow, guard: Guard): Promise<void> {
  await deps.db.write(context, async (tx) => {
    await guard(tx);
    const refund = await lockUnchanged(tx, examined);
    if (refund === null) return;
    const at = deps.clock.now();
    const open = { ...unexamined, confirmedAt: null, nextAt: at, updatedAt: at };
    await writeRefund(tx, deps, refund, { ...refund, ...open, status: "sent" }, "refund.reverted");
  });
}

async function lockUnchanged(tx: Tx, examined: RefundRow): Promise<RefundRow | null> {
  const refund = await lockRefund(tx, examined.id);
  return refund?.version === examined.version ? refund : null;
}
