import type { App } from "../../../app.ts";
import { minute, type Clock, type Instant } from "../../../kernel/clock.ts";
import { assert } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import type { ChainClient, Receipt, TransferLog } from "../../../platform/chain/client.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import { ProviderError } from "../../../platform/chain/providers/error.ts";
import { receiptsOf } from "../../../platform/chain/providers/pool.ts";
import { networkState } from "../../../platform/chain/state/network-state.ts";
import { systemContext } from "../../../platform/database/database.ts";
import { LeaseLost } from "../../../platform/jobs/leases.ts";
import { claimableNetworks, claimableTerms } from "../../invoices/holds/claimable.ts";
import { recordClaimedTransfers, decideClaim, type ClaimedTransfers } from "./ledger.ts";
import type { BlockTimes } from "../watcher/block-times.ts";
import {
  claimedLogs,
  givenUpAt,
  openMax,
  orderFault,
  retryAt,
  type ClaimOutcome,
} from "./rules.ts";
import type { ClaimReason } from "./status.ts";
import {
  closeClaim,
  dueClaims,
  dueKnownClaims,
  dueUnknownClaims,
  organizationsWithUnknown,
  postponeClaim,
} from "./store.ts";
import type { LeaseGuard } from "../watcher/recorder.ts";
import { marksOnChain } from "../watcher/read-changes.ts";
import { transfersOfTransactions } from "../ledger/store.ts";
import type { ClaimRow } from "../table.ts";
import { groupBy, type TimedLog } from "../ledger/chain-diff.ts";
import { watchWorkerName } from "../wake.ts";

interface ClaimExaminerDeps {
  readonly app: App;
  readonly network: Network;
  readonly client: ChainClient;
  /** The individual providers. */
  readonly providers: readonly ChainClient[];
  /** The ids of the networks whose claims are examined, by whatever process. */
  readonly examined: ReadonlySet<string>;
  /**
   * The ids of the networks that nobody reads, such as disabled ones, if this examiner moves their claims to networks that
   * are read; otherwise empty.
   */
  readonly unread: readonly string[];
  readonly times: BlockTimes;
}

interface Examining extends ClaimExaminerDeps {
  readonly share: StrangersShare;
}

/** Returns the receipt of a claim's transaction; throws ProviderError. */
type ReadReceipt = () => Promise<Receipt | null>;

/** Examines the transactions that payers submitted for invoices of one network. */
export interface ClaimExaminer {
  /**
   * Examines due claims after a scan of the watcher and under its lease, so that the ordinary rules have matched their
   * transfers already: those with a known transaction, and as many others as strangers' share allows. Returns true if more
   * claims with a known transaction are due; all others wait for the next examination, which they must not start.
   */
  examine(guard: LeaseGuard): Promise<boolean>;
}

/** The number of claims that are examined concurrently. */
const batchMax = 20;
/** The number of such batches of claims with a known transaction after one scan. */
const batchesMax = 10;

const context = systemContext("claims");

/** The evidence for a claim: transfers that may pay the invoice, the reason for its refusal, or what to wait for. */
type Evidence =
  | ClaimedTransfers
  | { readonly refused: ClaimReason }
  | { readonly waitsFor: "transaction" | "block" };

export function makeClaimExaminer(deps: ClaimExaminerDeps): ClaimExaminer {
  const { app, network } = deps;
  const share = makeStrangersShare({ clock: app.clock, network });
  return { examine: (guard) => examine({ ...deps, share }, guard) };
}

async function examine(deps: Examining, guard: LeaseGuard): Promise<boolean> {
  const { app, network, client } = deps;
  const { db, clock } = app;
  await takeOver(deps, guard);
  await examineUnknown(deps, guard);
  for (let batch = 0; batch < batchesMax; batch += 1) {
    const due = await dueKnownClaims(db, network.id, clock.now(), batchMax);
    await Promise.all(
      due.map((claim) =>
        examineOne(deps, claim, guard, () => client.receipt(claim.transactionHash)),
      ),
    );
    if (due.length < batchMax) return false;
  }
  return true;
}

/** Looks up, with one request, claims whose transaction may be made up. */
async function examineUnknown(deps: Examining, guard: LeaseGuard): Promise<void> {
  const { app, network, client, share } = deps;
  const { db, clock } = app;
  const most = Math.min(batchMax, share.left());
  if (most === 0) return;
  const at = clock.now();
  const waiting = await organizationsWithUnknown(db, network.id, at);
  if (waiting.length === 0) return;
  const shops = share.inTurn(waiting).slice(0, most);
  // Of each kind, these are of `most` invoices or more.
  const due = await dueUnknownClaims(db, network.id, shops, at, most * openMax);
  const claims = share.take(due, most, (claim) => (at < givenUpAt(claim) ? 1 : 2));
  if (claims.length === 0) return;
  const hashes = claims.map(({ transactionHash }) => transactionHash);
  const receipts = receiptsOf(client, hashes);
  // Each claim handles a failure that concerns it; one whose hold has ended reads nothing.
  receipts.catch(() => undefined);
  const receiptAt = async (index: number): Promise<Receipt | null> => {
    const reply = (await receipts)[index] ?? null;
    if (reply instanceof ProviderError) throw reply;
    return reply;
  };
  await Promise.all(
    claims.map((claim, index) => examineOne(deps, claim, guard, () => receiptAt(index))),
  );
}

/**
 * Moves due claims from networks that nobody reads to another network of their invoices, and postpones those whose
 * invoices have none.
 */
async function takeOver(deps: ClaimExaminerDeps, guard: LeaseGuard): Promise<void> {
  const { app, unread } = deps;
  const { db, clock } = app;
  if (unread.length === 0) return;
  const due = await dueClaims(db, unread, clock.now(), batchMax);
  for (const claim of due) {
    if (await tryOtherNetworks(deps, claim, guard, { isGivenUp: false })) continue;
    await postpone(deps, claim, guard, null);
  }
}

async function findEvidence(
  deps: ClaimExaminerDeps,
  claim: ClaimRow,
  readReceipt: ReadReceipt,
): Promise<Evidence> {
  const { app, network, client } = deps;
  const { db } = app;
  const terms = await claimableTerms(db, claim.invoiceId, claim.network);
  if (terms === null) return { refused: "hold_ended" };
  const receipt = await readReceipt();
  if (receipt === null) return findUnknown(deps, claim);
  const state = await networkState(db, network.id);
  const found = claimedLogs(receipt, terms, network, state?.disabledTokens ?? []);
  // Logs that cannot be read may be the payment: another provider may read them.
  const isUnreadable = typeof found === "string" && receipt.unreadableLogs !== undefined;
  if (isUnreadable) return { waitsFor: "block" };
  if (typeof found === "string") return { refused: found };
  const logs = await timed(deps, found);
  if (logs === null) return { waitsFor: "block" };
  const [first] = logs;
  const { markHeight: height, markHash: hash } = terms.mark;
  const own = height === null || hash === null ? [] : [{ height, hash }];
  const marks = state === null ? [] : await marksOnChain({ db, client, network, state }, logs, own);
  const stored = await transfersOfTransactions(db, network.id, [claim.transactionHash]);
  const recordedAt = stored.map(({ createdAt }) => createdAt).sort((a, b) => a - b)[0] ?? null;
  const fault = first === undefined ? null : orderFault(first, recordedAt, terms, marks);
  if (fault === null) return { logs, marks };
  // A block that only one of several providers reports refuses no claim: wait for a second one.
  return first?.isTimeAgreed === true ? { refused: fault } : { waitsFor: "block" };
}

/** Asks every provider before a transaction is given up: the first one may only be behind. */
async function findUnknown(deps: ClaimExaminerDeps, claim: ClaimRow): Promise<Evidence> {
  const { clock } = deps.app;
  if (clock.now() < givenUpAt(claim)) return { waitsFor: "transaction" };
  const replies = await Promise.all(
    deps.providers.map(async (provider) => {
      try {
        return await provider.receipt(claim.transactionHash);
      } catch (error) {
        if (error instanceof ProviderError) return null;
        throw error;
      }
    }),
  );
  const isUnknown = replies.every((receipt) => receipt === null);
  return isUnknown ? { refused: "unknown" } : { waitsFor: "block" };
}

/** Returns the logs of one receipt with their block's time; null if the block was replaced meanwhile. */
async function timed(
  deps: ClaimExaminerDeps,
  logs: readonly TransferLog[],
): Promise<readonly TimedLog[] | null> {
  const { client } = deps;
  const [first] = logs;
  assert(first !== undefined, "a receipt without transfers was taken for a payment");
  const { blockHeight: height, blockHash: hash } = first;
  const [block] = first.blockTime === null ? await client.blocks([height]) : [];
  const time = first.blockTime ?? (block?.hash === hash ? block.time : null);
  if (time === null) return null;
  const { provider } = client;
  const believed = (await deps.times.of([{ height, hash, reported: { provider, time } }])).get(
    hash,
  );
  assert(believed !== undefined, "a block with a reported time has no time");
  const { time: blockTime, isAgreed: isTimeAgreed } = believed;
  return logs.map((log) => ({ ...log, blockTime, isTimeAgreed }));
}

/** Postpones a claim with its preliminary reason. */
async function postpone(
  { app }: ClaimExaminerDeps,
  claim: ClaimRow,
  guard: LeaseGuard,
  reason: "unknown" | null,
  { network, isKnown }: Pick<ClaimRow, "network" | "isKnown"> = claim,
): Promise<void> {
  const { db, clock } = app;
  await db.write(context, async (tx) => {
    await guard(tx);
    const retry = retryAt(claim.attempts, clock.now());
    const nextAt = reason === "unknown" ? Math.min(retry, givenUpAt(claim)) : retry;
    const attempts = claim.attempts + 1;
    await postponeClaim(tx, claim, { network, nextAt, reason, attempts, isKnown });
  });
}

/**
 * Continues the search on another network of the invoice's options: at once on the next one, and after the last one
 * later on the first. Returns false if the claim stays: the invoice has one network, or the last one gives it up.
 */
async function tryOtherNetworks(
  deps: ClaimExaminerDeps,
  claim: ClaimRow,
  guard: LeaseGuard,
  { isGivenUp }: { readonly isGivenUp: boolean },
): Promise<boolean> {
  const { app, examined } = deps;
  const { db, clock } = app;
  const chosen = await claimableNetworks(db, claim.invoiceId);
  const networks = chosen.filter((id) => examined.has(id));
  const next = networks[networks.indexOf(claim.network) + 1];
  const [first] = networks;
  if (first === undefined) return false;
  if (next === undefined) {
    if (networks.length < 2) return false;
    const there = { network: first, isKnown: false };
    if (!isGivenUp) await postpone(deps, claim, guard, "unknown", there);
    return !isGivenUp;
  }
  await db.write(context, async (tx) => {
    await guard(tx);
    const { attempts, reason } = claim;
    const isUnknown = reason === "unknown" ? reason : null;
    await postponeClaim(tx, claim, {
      network: next,
      nextAt: clock.now(),
      reason: isUnknown,
      attempts,
      isKnown: false,
    });
    tx.afterCommit(() => {
      app.running?.nudge(watchWorkerName(next));
    });
  });
  return true;
}

/** Whether the network has nothing to say about a transaction, so that another one may have it. */
function isAbsent(evidence: Evidence): boolean {
  if ("waitsFor" in evidence) return evidence.waitsFor === "transaction";
  return "refused" in evidence && ["unknown", "hold_ended"].includes(evidence.refused);
}

async function applyEvidence(
  deps: ClaimExaminerDeps,
  claim: ClaimRow,
  evidence: Evidence,
  guard: LeaseGuard,
): Promise<void> {
  const { app, network } = deps;
  const { db, clock } = app;
  const isGivenUp = "refused" in evidence;
  if (isAbsent(evidence) && (await tryOtherNetworks(deps, claim, guard, { isGivenUp }))) return;
  if ("waitsFor" in evidence) {
    const isKnown = evidence.waitsFor === "block";
    const { network: on } = claim;
    await postpone(deps, claim, guard, isKnown ? null : "unknown", { network: on, isKnown });
    return;
  }
  if ("logs" in evidence) {
    // The ordinary rules come first, in a separate transaction: each transaction locks in the ledger's order.
    await db.write(context, async (tx) => {
      await guard(tx);
      await recordClaimedTransfers(tx, app, clock.now(), network, claim, evidence);
    });
  }
  await db.write(context, async (tx) => {
    await guard(tx);
    const at = clock.now();
    const outcome: ClaimOutcome | null =
      "refused" in evidence
        ? { state: "refused", reason: evidence.refused }
        : await decideClaim(tx, app, at, network, claim, evidence);
    if (outcome === null) {
      const { network: on, attempts } = claim;
      const nextAt = retryAt(attempts, at);
      await postponeClaim(tx, claim, {
        network: on,
        nextAt,
        reason: null,
        attempts: attempts + 1,
        isKnown: true,
      });
      return;
    }
    if (!(await closeClaim(tx, claim, { ...outcome, closedAt: at }))) return;
    app.journal.record(tx, at, {
      action: "invoice.transaction_examined",
      organizationId: claim.organizationId,
      subjectType: "invoice",
      subjectId: claim.invoiceId,
      changes: { transactionHash: claim.transactionHash, state: outcome.state },
    });
  });
}

/** Examines one claim. A failure postpones it and does not block the others. */
async function examineOne(
  deps: ClaimExaminerDeps,
  claim: ClaimRow,
  guard: LeaseGuard,
  readReceipt: ReadReceipt,
): Promise<void> {
  const { app, network } = deps;
  try {
    await applyEvidence(deps, claim, await findEvidence(deps, claim, readReceipt), guard);
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    if (!(error instanceof ProviderError)) {
      app.logger
        .child({ network: network.id })
        .error({ claim: claim.id, err: error }, "a submitted transaction could not be examined");
    }
    // Another network may have it, and be read.
    if (await tryOtherNetworks(deps, claim, guard, { isGivenUp: false })) return;
    await postpone(deps, claim, guard, claim.reason === "unknown" ? "unknown" : null);
  }
}

/**
 * Lookups of transactions that strangers named and no provider had so far, in percent of the requests that the ordinary
 * scans of a network make: a tenth of a provider's day.
 */
export const strangersPercent = 10;
/** The requests of an ordinary scan of an idle network. */
const requestsPerScan = 2;
/** The lookups that a network saves up while nobody needs them. */
export const savedMax = 20;
/** The saved lookups that are kept for organizations without a lookup in the last minute. */
export const reserved = 10;
const recentMs = minute;

/** The lookups that strangers have on a network, shared by organization. Counted by the process that reads the network. */
interface StrangersShare {
  /** The number of lookups that are left now. */
  left(): number;
  /** Orders the organizations that wait: those whose last lookup is longest ago first. Forgets others in time. */
  inTurn(waiting: readonly Id<"organization">[]): Id<"organization">[];
  /**
   * Takes lookups for the first claims in turn, at most `most`. Organizations take turns; in each one its invoices, and
   * claims that were looked up before with those that were not. The claims of an organization are given
   * oldest first. An organization with a recent lookup leaves the reserve to others. If too
   * few lookups are left for a claim, it and those behind it wait. `costOf` returns the lookups that a claim needs of a
   * provider, at most `savedMax - reserved`.
   */
  take(
    claims: readonly ClaimRow[],
    most: number,
    costOf: (claim: ClaimRow) => number,
  ): readonly ClaimRow[];
}

interface Lookup {
  readonly at: Instant;
  /** Whether it was the claim's first lookup. */
  readonly wasFirst: boolean;
}

export function makeStrangersShare(deps: {
  readonly clock: Clock;
  readonly network: Pick<Network, "pollMs">;
}): StrangersShare {
  const { clock } = deps;
  const earnedPerMs = ((strangersPercent / 100) * requestsPerScan) / deps.network.pollMs;
  let saved = savedMax;
  let countedAt: Instant = clock.now();
  /** The last lookup of each organization that had one lately or waits for another one, in the order of the lookups. */
  const last = new Map<Id<"organization">, Lookup>();

  function count(): void {
    const at = clock.now();
    // A clock that is set earns nothing for its jump back, and at most the savings for one ahead.
    saved = Math.min(savedMax, saved + Math.max(0, at - countedAt) * earnedPerMs);
    countedAt = at;
  }

  function isRecent(id: Id<"organization">): boolean {
    const lookup = last.get(id);
    return lookup !== undefined && Math.abs(clock.now() - lookup.at) < recentMs;
  }

  function inTurn(organizationIds: readonly Id<"organization">[]): Id<"organization">[] {
    const waits = new Set(organizationIds);
    return [
      ...organizationIds.filter((id) => !last.has(id)),
      ...[...last.keys()].filter((id) => waits.has(id)),
    ];
  }

  /** Orders the claims of one organization: first and further lookups in turns, and one of each invoice before others. */
  function ownTurns(id: Id<"organization">, claims: readonly ClaimRow[]): ClaimRow[] {
    const begins = last.get(id)?.wasFirst === true ? isLookedUp : isFresh;
    const kinds = [claims.filter(begins), claims.filter((claim) => !begins(claim))];
    return merged([...groupBy(merged(kinds), ({ invoiceId }) => invoiceId).values()]);
  }

  return {
    left() {
      count();
      return Math.floor(saved);
    },
    inTurn(waiting) {
      const waits = new Set(waiting);
      for (const id of last.keys()) {
        if (!waits.has(id) && !isRecent(id)) last.delete(id);
      }
      return inTurn(waiting);
    },
    take(claims, most, costOf) {
      count();
      const of = groupBy(claims, ({ organizationId }) => organizationId);
      const queues = inTurn([...of.keys()]).map((id) => ownTurns(id, of.get(id) ?? []));
      const taken: ClaimRow[] = [];
      for (const claim of merged(queues).slice(0, most)) {
        const { organizationId } = claim;
        const cost = costOf(claim);
        // Claims behind it are of organizations with a later lookup, none of which may use more of what is left.
        if (saved - cost < (isRecent(organizationId) ? reserved : 0)) break;
        saved -= cost;
        last.delete(organizationId);
        last.set(organizationId, { at: clock.now(), wasFirst: isFresh(claim) });
        taken.push(claim);
      }
      return taken;
    },
  };
}

const isFresh = ({ attempts }: ClaimRow): boolean => attempts === 0;
const isLookedUp = (claim: ClaimRow): boolean => !isFresh(claim);

/** Returns the items of all queues: their first ones in the order of the queues, then their second ones, and so on. */
function merged<T>(queues: readonly (readonly T[])[]): T[] {
  const ranked = queues.flatMap((queue) => queue.map((item, index) => ({ item, place: index })));
  return ranked.toSorted((one, other) => one.place - other.place).map(({ item }) => item);
}
