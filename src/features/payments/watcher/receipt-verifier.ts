import { LRUCache } from "lru-cache";
import type { Clock, Instant } from "../../../kernel/clock.ts";
import { minute, second } from "../../../kernel/clock.ts";
import { restSubject, type ChainAlarms } from "../../../platform/chain/state/alarms.ts";
import type { ChainClient, Head, Receipt } from "../../../platform/chain/client.ts";
import { ProviderError } from "../../../platform/chain/providers/error.ts";
import { receiptOrLogs } from "../../../platform/chain/providers/probe.ts";
import type { ProviderPool } from "../../../platform/chain/providers/pool.ts";
import type { Logger } from "../../../platform/logger/index.ts";
import { isSameTransfer } from "../ledger/chain-diff.ts";
import type { PaymentRow, TransferRow } from "../table.ts";

/** A payment or a transfer whose receipts are compared with the scan. */
export interface Verifiable {
  /** The id of the payment or of the transfer. */
  readonly id: string;
  /** As scanned. */
  readonly transfer: TransferRow;
  /** The height that the newest block of an agreeing provider has at least. */
  readonly confirmsAtHeight: number;
}

/** A payment with all its confirmations. */
export interface Candidate extends Verifiable {
  readonly payment: PaymentRow;
}

/**
 * Verifies payments before they are confirmed, or transfers: reads their receipts once more. Where two or more providers
 * are configured, two must agree with the scan, so that a single provider cannot make an invoice paid, nor have money
 * refunded that never came.
 */
export type Verifier = ReturnType<typeof makeVerifier>;

/** The number of receipts that are compared concurrently. */
const parallel = 20;
/**
 * How long to wait for a second provider after it began to fail, before one provider suffices, in milliseconds. An
 * outage costs this wait once, not once per payment. It starts over for a provider that was not asked for this long.
 */
const patienceMs = 2 * minute;
const retryFirstMs = 5 * second;
const retryMostMs = 5 * minute;
/** The age in milliseconds above which a provider's newest block shows that the provider is behind. */
const staleMs = minute;
/** The largest number of notes about held subjects; the oldest are dropped first. */
const notesMax = 10_000;

/**
 * A provider's opinion on a candidate. `is_early`: it has the transfer, but its newest block, which is recent, is below
 * the confirming one: the chain has not reached it yet, whatever another provider says. `is_behind`: its blocks are old
 * or do not reach the transfer. `is_away`: it failed to answer.
 */
type Opinion = "agrees" | "is_early" | "is_behind" | "is_away" | { readonly disagrees: string };

/** The retry schedule of a payment or transfer about which a provider disagrees. */
interface Note {
  readonly retryAt: Instant;
  readonly waitMs: number;
}

interface Deps {
  /** The kind of the subjects, each of which has an alarm of its own. */
  readonly subject: "payment" | "transfer";
  /** The individual providers, in order of preference. */
  readonly providers: readonly ChainClient[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly alarms: ChainAlarms;
  /** Knows since when each provider fails; without it, the first unanswered request counts. */
  readonly pool?: Pick<ProviderPool, "unusableSince" | "readmittedAt">;
}

type Parts = Deps & {
  /** The notes on held subjects, by id. */
  readonly notes: LRUCache<string, Note>;
  /** Since when a provider is away or behind, and when this was last found. */
  readonly missing: Map<ChainClient, { readonly since: Instant; readonly foundAt: Instant }>;
};

export function makeVerifier(deps: Deps) {
  const self: Parts = { ...deps, notes: new LRUCache({ max: notesMax }), missing: new Map() };
  return {
    verify: (candidates: readonly Verifiable[]) => verify(self, candidates),
    held: () => held(self),
    release(ids: readonly string[]): void {
      release(self, ids);
    },
  };
}

/** Returns the ids of the candidates whose receipts agree. The others are verified again in a later call. */
async function verify(
  deps: Parts,
  candidates: readonly Verifiable[],
): Promise<ReadonlySet<string>> {
  const { clock, notes } = deps;
  const now = clock.now();
  const due = candidates.filter(({ id }) => isDue(deps, notes.peek(id), now));
  const round = makeRound(now, deps.providers.length === 1);
  const agreed: string[] = [];
  for (let start = 0; start < due.length; start += parallel) {
    const group = due.slice(start, start + parallel);
    const verdicts = await Promise.all(group.map((candidate) => isAgreed(deps, candidate, round)));
    agreed.push(...group.filter((_, index) => verdicts[index] === true).map(({ id }) => id));
  }
  release(deps, agreed);
  return new Set(agreed);
}

/** Returns true if a candidate is verified now: after its wait, or once the failures of simulated providers were ended. */
function isDue({ pool }: Parts, noted: Note | undefined, now: Instant): boolean {
  if (noted === undefined || noted.retryAt <= now) return true;
  return noted.retryAt - noted.waitMs <= (pool?.readmittedAt() ?? 0);
}

/** Returns the ids that are held because a provider disagrees, including those held by an earlier process. */
function held(deps: Parts): readonly string[] {
  const { alarms, notes } = deps;
  return [
    ...new Set([
      ...notes.keys(),
      ...alarms
        .open()
        .filter(({ kind, subject }) => kind === alarmOf(deps) && subject !== restSubject)
        .map(({ subject }) => subject),
    ]),
  ];
}

/** Forgets subjects that are verified, or wait for it no longer, and ends their alarms. */
function release(deps: Parts, ids: readonly string[]): void {
  for (const id of ids) {
    deps.notes.delete(id);
    deps.alarms.clear(alarmOf(deps), id);
  }
}

function alarmOf({ subject }: Pick<Deps, "subject">) {
  return `${subject}_held` as const;
}

function hold(deps: Parts, candidate: Verifiable, provider: ChainClient, reason: string): void {
  const { clock, alarms, notes, subject } = deps;
  const { id, transfer } = candidate;
  const before = notes.peek(id);
  const now = clock.now();
  const waitMs = Math.min(retryMostMs, (before?.waitMs ?? retryFirstMs / 2) * 2);
  notes.set(id, { retryAt: now + waitMs, waitMs });
  const { provider: name } = provider;
  alarms.raise(
    alarmOf(deps),
    id,
    `a ${subject} is held: a provider contradicts what was scanned (${name}: ${reason}). ` +
      `Check a block explorer; till payments confirm-held ${id} --reason "…" confirms a ${subject} that the provider ` +
      "does not know",
    {
      [subject]: id,
      network: transfer.network,
      transactionHash: transfer.transactionHash,
      provider: name,
      reason,
    },
  );
}

/** Returns since when a provider cannot judge a candidate; null if it can. */
function missingSince(
  { clock, pool, missing }: Parts,
  provider: ChainClient,
  opinion: Opinion,
): Instant | null {
  if (opinion !== "is_away" && opinion !== "is_behind") {
    missing.delete(provider);
    return null;
  }
  const now = clock.now();
  const before = missing.get(provider);
  // The provider may have recovered since it was last asked.
  const isSameOutage = before !== undefined && now - before.foundAt < patienceMs;
  const failing = opinion === "is_away" ? pool?.unusableSince(provider.provider) : null;
  // A clock that was set back must not prolong the wait.
  const since = Math.min(now, isSameOutage ? before.since : now, failing ?? now);
  missing.set(provider, { since, foundAt: now });
  return since;
}

/** Returns true if the wait for the missing providers is over. */
function isOutOfPatience(deps: Parts, { id }: Verifiable, since: readonly Instant[]): boolean {
  const { clock, alarms, notes } = deps;
  // A subject that one provider denied is never verified by another one alone, not even after a restart.
  const isDenied = notes.has(id) || alarms.holds(alarmOf(deps), id);
  return !isDenied && since.every((each) => clock.now() - each >= patienceMs);
}

async function isAgreed(deps: Parts, candidate: Verifiable, round: Round): Promise<boolean> {
  const { providers, logger, subject } = deps;
  const needed = Math.min(2, providers.length);
  let agreed = 0;
  let isEarly = false;
  const missingSinces: Instant[] = [];
  for (const provider of providers) {
    const opinion = await round.opinionOf(provider, candidate);
    const since = missingSince(deps, provider, opinion);
    if (since !== null) missingSinces.push(since);
    if (typeof opinion === "object") {
      hold(deps, candidate, provider, opinion.disagrees);
      return false;
    }
    if (opinion === "agrees") agreed += 1;
    isEarly ||= opinion === "is_early";
    if (agreed === needed) return true;
  }
  // A provider with recent blocks is not missing: the chain has not reached the confirming block yet.
  if (agreed === 0 || isEarly || !isOutOfPatience(deps, candidate, missingSinces)) return false;
  logger.warn(
    { [subject]: candidate.id, network: candidate.transfer.network },
    `a ${subject} is confirmed by one provider alone, because no second provider was available for a while`,
  );
  return true;
}

interface Round {
  opinionOf(provider: ChainClient, candidate: Verifiable): Promise<Opinion>;
}

/** One round of requests: a failed provider is not asked again, and no receipt, block or tip is read twice. */
function makeRound(now: Instant, isSole: boolean): Round {
  const away = new Set<ChainClient>();
  const caches = new Map<ChainClient, ChainClient>();
  const tips = new Map<ChainClient, Promise<Head>>();

  function once<K, V>(known: Map<K, Promise<V>>, key: K, read: () => Promise<V>): Promise<V> {
    let reply = known.get(key);
    if (reply === undefined) {
      reply = read();
      known.set(key, reply);
    }
    return reply;
  }

  /** Returns a client that repeats the answers of this round. */
  function cached(provider: ChainClient): ChainClient {
    const before = caches.get(provider);
    if (before !== undefined) return before;
    const receipts = new Map<string, Promise<Receipt | null>>();
    const blocks = new Map<string, Promise<(Head | null)[]>>();
    const logs = new Map<string, ReturnType<NonNullable<ChainClient["transfersIn"]>>>();
    const client: ChainClient = {
      ...provider,
      receipt: (hash) => once(receipts, hash, () => provider.receipt(hash)),
      blocks: (heights) => once(blocks, heights.join(), () => provider.blocks(heights)),
      ...(provider.transfersIn !== undefined && {
        transfersIn: (hash, of) =>
          once(
            logs,
            `${hash} ${of.join()}`,
            async () => (await provider.transfersIn?.(hash, of)) ?? { logs: [] },
          ),
      }),
    };
    caches.set(provider, client);
    return client;
  }

  const tipOf = (provider: ChainClient) =>
    once(tips, provider, async () => (await provider.heads()).latest);

  async function ask(provider: ChainClient, candidate: Verifiable): Promise<Opinion> {
    const { transfer } = candidate;
    const { blockHeight, blockHash } = transfer;
    const receipt = await receiptOrLogs(cached(provider), transfer, [transfer.contract]);
    const opinion = receipt === null ? null : compare(receipt, transfer);
    // A provider whose logs cannot be read is waited for like one that does not answer; the only one raises an alarm.
    const isHidden = receipt?.unreadableLogs !== undefined && receipt.blockHash === blockHash;
    if (isHidden && opinion !== "agrees" && !isSole) return "is_away";
    if (opinion !== null && opinion !== "agrees") return opinion;
    const tip = await tipOf(provider);
    if (opinion === null) {
      return tip.height < blockHeight ? "is_behind" : { disagrees: unknownTransaction };
    }
    if (tip.height >= candidate.confirmsAtHeight) return "agrees";
    return tip.time >= now - staleMs ? "is_early" : "is_behind";
  }

  return {
    async opinionOf(provider, candidate) {
      if (away.has(provider)) return "is_away";
      try {
        return await ask(provider, candidate);
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        away.add(provider);
        return "is_away";
      }
    },
  };
}

const unknownTransaction = "it does not know the transaction";

/** Whether the receipt or the logs of a provider contain a transfer as scanned; null if it has neither. */
export async function evidenceOf(
  client: ChainClient,
  transfer: TransferRow,
): Promise<"agrees" | { readonly disagrees: string } | null> {
  const receipt = await receiptOrLogs(client, transfer, [transfer.contract]);
  return receipt === null ? null : compare(receipt, transfer);
}

function compare(receipt: Receipt, transfer: TransferRow) {
  if (!receipt.succeeded) return { disagrees: "the transaction failed" };
  if (receipt.blockHash !== transfer.blockHash) {
    return { disagrees: "the transaction is in another block" };
  }
  return holds(receipt, transfer)
    ? ("agrees" as const)
    : { disagrees: "the transaction does not contain the transfer" };
}

/** Returns true if the receipt contains the transfer as scanned. */
function holds(receipt: Receipt, transfer: TransferRow): boolean {
  return receipt.transfers.some((log) => isSameTransfer(transfer, log));
}

/** Returns true if a provider still has a transfer at its stored position. */
export async function isStillThere(client: ChainClient, transfer: TransferRow): Promise<boolean> {
  return (await evidenceOf(client, transfer)) === "agrees";
}
