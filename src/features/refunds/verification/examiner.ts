import type { App, InTx } from "../../../app.ts";
import type { Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import type { ChainClient, Receipt } from "../../../platform/chain/client.ts";
import { ProviderError } from "../../../platform/chain/providers/error.ts";
import { receiptOrLogs } from "../../../platform/chain/providers/probe.ts";
import { restSubject } from "../../../platform/chain/state/alarms.ts";
import { networkState } from "../../../platform/chain/state/network-state.ts";
import { endAlarms as endStoredAlarms } from "../../../platform/chain/state/provider-health.ts";
import { systemContext, type Tx, type WriteContext } from "../../../platform/database/database.ts";
import { LeaseLost } from "../../../platform/jobs/leases.ts";
import { assertConfirmable, heldAlarm, opinionOf } from "../../payments/networks/held.ts";
import { HeldNotConfirmed, ProviderUnusable } from "../../payments/errors.ts";
import type { AskedNetwork } from "../../payments/hooks.ts";
import { networkReadersOf } from "../../payments/networks/readers.ts";
import { lockRefundable, takeBackRefund } from "../../payments/refundable.ts";
import type { LeaseGuard } from "../../payments/watcher/recorder.ts";
import { addressOwners } from "../../wallets/store.ts";
import { withdrawn, writeRefund } from "../changes.ts";
import {
  attemptsMax,
  denialsMax,
  heldAttemptsMax,
  refusalOf,
  retryAt,
  unexamined,
  waitMs,
} from "./evidence.ts";
import { viewOf, type HeldRefund, type RefundOpinion } from "../records.ts";
import { getAnyRefund } from "../refunds.ts";
import type { RefundRefusal } from "../status.ts";
import { dueRefunds, lockRefund, saveRefund, sentAmong, type RefundRow } from "../store.ts";

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

const heldKinds = ["refund_held"] as const;

/**
 * Examines a bounded batch of due refunds, after a scan of the watcher and under its lease. Returns true if more may be
 * due.
 */
export async function examineRefunds(
  app: App,
  asked: AskedNetwork,
  guard: LeaseGuard,
): Promise<boolean> {
  const { db, clock } = app;
  const { network } = asked;
  const state = await networkState(db, network.id);
  if (state === null) return false;
  const { cursorHeight } = state;
  await endAlarms(app, asked);
  const due = await dueRefunds(db, network.id, clock.now(), cursorHeight, batchMax);
  await Promise.all(due.map((refund) => examineOne(app, asked, refund, cursorHeight, guard)));
  return due.length === batchMax;
}

/** Examines one refund. A failure postpones it and does not block the others. */
async function examineOne(
  app: App,
  asked: AskedNetwork,
  refund: RefundRow,
  cursorHeight: number,
  guard: LeaseGuard,
): Promise<void> {
  try {
    if (refund.status === "confirmed") await reopen(app, refund, guard);
    else {
      await conclude(app, asked, refund, await verdictOn(app, asked, refund, cursorHeight), guard);
    }
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    const logger = app.logger.child({ network: asked.network.id });
    logger.error({ refund: refund.id, err: error }, "a refund could not be examined");
    await conclude(app, asked, refund, "unread", guard);
  }
}

/** Asks providers until two agree, or the only one. */
async function verdictOn(
  app: App,
  asked: AskedNetwork,
  refund: RefundRow,
  cursorHeight: number,
): Promise<Verdict> {
  const { providers } = asked;
  const needed = Math.min(2, providers.length);
  const missing = new Map<ChainClient, { readonly provider: string; readonly isAway: boolean }>();
  let first: Finding | null = null;
  const left = [...providers];
  for (const client of left) {
    const { provider } = client;
    const found = await receiptOf(asked, client, refund, first?.receipt ?? null);
    if (found === null || found === "away") {
      missing.set(client, { provider, isAway: found === "away" });
      continue;
    }
    const finding = { receipt: found, refusal: await judge(app, asked, refund, found) };
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
    asked.alarms?.holds("refund_held", refund.id) !== true;
  if (isOutOfPatience && first.refusal === null) return { confirmed: first.receipt };
  return { held: first, provider: absent.provider, isContradicted: false };
}

function agrees(one: Finding, other: Finding): boolean {
  return one.receipt.blockHash === other.receipt.blockHash && one.refusal === other.refusal;
}

/** Reads the receipt of a refund's transaction, or the logs of the block in which another provider has it. */
async function receiptOf(
  { network }: AskedNetwork,
  provider: ChainClient,
  refund: RefundRow,
  receipt: Receipt | null,
): Promise<Receipt | null | "away"> {
  const contracts = network.tokens.map(({ contract }) => contract);
  try {
    if (receipt !== null) return await receiptOrLogs(provider, receipt, contracts);
    return await provider.receipt(refund.transactionHash ?? "");
  } catch (error) {
    if (error instanceof ProviderError) return "away";
    throw error;
  }
}

async function judge(
  { db }: App,
  { network }: AskedNetwork,
  refund: RefundRow,
  receipt: Receipt,
): Promise<RefundRefusal | null> {
  const senders = receipt.transfers.map(({ from }) => from);
  const owners = await addressOwners(db, network.addressFamily, senders);
  return refusalOf(receipt, refund, network, owners);
}

/** Stores the result of an examination, unless the refund has changed meanwhile. */
async function conclude(
  app: App,
  asked: AskedNetwork,
  examined: RefundRow,
  verdict: Verdict,
  guard: LeaseGuard,
): Promise<void> {
  await app.db.write(context, async (tx) => {
    await guard(tx);
    const refusal = finalRefusal(examined, verdict);
    if (refusal !== null) {
      await takeBack(tx, app, examined, refusal);
      return;
    }
    const refund = await lockUnchanged(tx, examined);
    if (refund === null) return;
    if (typeof verdict === "object" && "confirmed" in verdict) {
      await confirm(tx, app, refund, verdict.confirmed);
    } else await saveRefund(tx, { ...refund, ...postponed(refund, verdict, app.clock.now()) });
  });
  report(asked, examined, verdict);
}

/** Confirms a locked refund by the receipt that pays it. */
function confirm(
  tx: Tx,
  app: InTx,
  refund: RefundRow,
  { blockHeight, blockHash }: Receipt,
): Promise<RefundRow> {
  const at = app.clock.now();
  const found = { ...unexamined, blockHeight, blockHash, refusal: null };
  const confirmed = { ...refund, ...found, updatedAt: at, confirmedAt: at };
  return writeRefund(tx, app, refund, { ...confirmed, status: "confirmed" }, "refund.confirmed");
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
function report({ alarms, network }: AskedNetwork, refund: RefundRow, verdict: Verdict): void {
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
 * Returns a refund of any organization that a contradiction between providers holds, with each provider's opinion now, for
 * the operator. Throws NotFound, ProviderUnusable or HeldNotConfirmed.
 */
export async function findHeldRefund(app: App, refundId: Id<"refund">): Promise<HeldRefund> {
  const { refund } = await getAnyRefund(app, refundId);
  return findHeld(app, readerOf(app, refund), refund);
}

/** Confirms a held refund for an operator. Throws NotFound, ProviderUnusable or HeldNotConfirmed. */
export async function confirmHeldRefund(
  app: App,
  context: WriteContext,
  refundId: Id<"refund">,
  reason: string,
): Promise<HeldRefund> {
  const { refund } = await getAnyRefund(app, refundId);
  return confirmHeld(app, readerOf(app, refund), context, refund, reason);
}

function readerOf(app: App, { network }: RefundRow): AskedNetwork {
  const reader = networkReadersOf(app).get(network);
  if (reader !== undefined) return reader;
  throw new ProviderUnusable(`${network} has no provider. Configure one and try again.`);
}

/**
 * Returns a held refund, and asks every provider about its transaction now. Throws HeldNotConfirmed if it is not held, or
 * no provider has a transaction that pays it.
 */
export async function findHeld(
  app: App,
  asked: AskedNetwork,
  refund: RefundRow,
): Promise<HeldRefund> {
  const { db } = app;
  const { network, providers } = asked;
  if (refund.status !== "sent") throw new HeldNotConfirmed(`${refund.id} is ${refund.status}.`);
  const alarm = await heldAlarm(db, { network: network.id, kinds: heldKinds, id: refund.id });
  const receipts = await Promise.all(
    providers.map(async (client) => {
      const receipt = await receiptOf(asked, client, refund, null);
      if (receipt === null || receipt === "away") return null;
      return (await judge(app, asked, refund, receipt)) === null ? receipt : null;
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
      const readEvidence = () => evidenceOf(app, asked, client, refund, paying);
      return { provider: client.provider, opinion: await opinionOf(client, paying, readEvidence) };
    }),
  );
  // The contradiction may have been about a transaction that the merchant replaced.
  const heldSince = Math.max(alarm.raisedAt, refund.sentAt ?? 0);
  return { ...viewOf(refund, app.networks.known), heldSince, paying, opinions };
}

/** Compares a provider's receipt or logs with the receipt that pays a refund; null if the provider has neither. */
async function evidenceOf(
  app: App,
  asked: AskedNetwork,
  client: ChainClient,
  refund: RefundRow,
  paying: Receipt,
): Promise<RefundOpinion | null> {
  const contracts = asked.network.tokens.map(({ contract }) => contract);
  const receipt = await receiptOrLogs(client, paying, contracts);
  if (receipt === null) return null;
  if (receipt.blockHash !== paying.blockHash) {
    return { disagrees: "the transaction is in another block" };
  }
  const refusal = await judge(app, asked, refund, receipt);
  if (refusal === null) return "agrees";
  return receipt.unreadableLogs === undefined ? { denies: refusal } : "is_away";
}

/**
 * Confirms a held refund although providers contradict each other about the transfers in its transaction. One provider
 * must have a final transaction that pays it now, and every other one must answer and have the same block. Throws
 * HeldNotConfirmed.
 */
export async function confirmHeld(
  app: App,
  asked: AskedNetwork,
  operator: WriteContext,
  examined: RefundRow,
  reason: string,
): Promise<HeldRefund> {
  const { db, clock, journal } = app;
  const { network } = asked;
  const held = await findHeld(app, asked, examined);
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
    const confirmed = await confirm(tx, app, refund, paying);
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
    return { ...held, ...viewOf(confirmed, app.networks.known) };
  });
}

/** Ends the alarms of refunds that are no longer examined. */
async function endAlarms({ db }: App, { alarms }: AskedNetwork): Promise<void> {
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
  tx: Tx,
  app: InTx,
  examined: RefundRow,
  refusal: RefundRefusal,
): Promise<void> {
  const found = await lockRefundable(tx, app, examined.organizationId, examined.paymentId);
  const refund = await lockUnchanged(tx, examined);
  if (refund === null) return;
  const at = app.clock.now();
  const isCovered = await takeBackRefund(tx, app, at, found, refund.amount);
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
  if (isCovered) await writeRefund(tx, app, refund, back, "refund.reverted");
  else await writeRefund(tx, app, refund, withdrawn(back, at), "refund.rejected");
}

/** Returns a confirmed refund to the sent ones: the chain has replaced the final block of its transaction. */
async function reopen(app: App, examined: RefundRow, guard: LeaseGuard): Promise<void> {
  await app.db.write(context, async (tx) => {
    await guard(tx);
    const refund = await lockUnchanged(tx, examined);
    if (refund === null) return;
    const at = app.clock.now();
    const open = { ...unexamined, confirmedAt: null, nextAt: at, updatedAt: at };
    await writeRefund(tx, app, refund, { ...refund, ...open, status: "sent" }, "refund.reverted");
  });
}

async function lockUnchanged(tx: Tx, examined: RefundRow): Promise<RefundRow | null> {
  const refund = await lockRefund(tx, examined.id);
  return refund?.version === examined.version ? refund : null;
}
