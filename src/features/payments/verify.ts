import type { Clock, Instant } from "../../kernel/clock.ts";
import { minute, second } from "../../kernel/clock.ts";
import { restSubject, type ChainAlarms } from "../../platform/chain/alarms.ts";
import type { ChainClient, Head, Receipt } from "../../platform/chain/client.ts";
import { ProviderError } from "../../platform/chain/provider-error.ts";
import type { ProviderPool } from "../../platform/chain/provider-pool.ts";
import type { Logger } from "../../platform/logger/index.ts";
import type { PaymentRow, TransferRow } from "./table.ts";

/** A payment that has its confirmations, with the transfer as it was scanned. */
export interface Candidate {
  readonly payment: PaymentRow;
  readonly transfer: TransferRow;
}

/**
 * The money moment: before a payment is confirmed, its receipt is read once more. Two providers must agree with what
 * was scanned where two are configured, so that one alone cannot make an invoice paid.
 */
export interface Verifier {
  /** The candidates whose receipts agree. The others are asked about again, at a later call. */
  verify(candidates: readonly Candidate[]): Promise<readonly Candidate[]>;
  /** The payments that are held because a provider disagrees, and those that another process held before. */
  held(): readonly string[];
  /** These payments do not wait any more: they are gone, or somebody decided about them. Their alarms end. */
  release(paymentIds: readonly string[]): void;
}

/** Receipts that are read at the same time. */
const parallel = 20;
/**
 * How long a second provider is waited for, from when it began to fail, before one alone is enough: an outage costs
 * that once, and not once for each payment. A provider that was not asked for this long is waited for again.
 */
const patienceMs = 2 * minute;
const retryFirstMs = 5 * second;
const retryMostMs = 5 * minute;
/** A newest block that is so much older than another's, or than now, is not the chain's. */
const staleMs = minute;
/** Notes kept about payments that wait; the oldest are forgotten first. */
const notesMax = 10_000;

/**
 * What a provider says about a candidate. `is_early`: it has the transfer, and its newest block, which is of just now, is
 * below the one that confirms it: the chain is not there yet, whatever another says. `is_behind`: its blocks are old.
 */
type Opinion = "agrees" | "is_early" | "is_behind" | "is_away" | { readonly disagrees: string };

/** When a payment that a provider disagrees about is asked about again. */
interface Note {
  readonly retryAt: Instant;
  readonly waitMs: number;
}

export function makeVerifier(deps: {
  /** Each provider by itself, in order of preference. */
  readonly providers: readonly ChainClient[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly alarms: ChainAlarms;
  /** Knows since when each provider fails; without it that counts from the first question that one did not answer. */
  readonly pool?: Pick<ProviderPool, "unusableSince">;
}): Verifier {
  const { providers, clock, logger, alarms, pool } = deps;
  /** Of the payments that are held. */
  const notes = new Map<string, Note>();
  /** Since when providers are away or behind, and when that was last found. */
  const missing = new Map<ChainClient, { readonly since: Instant; readonly foundAt: Instant }>();

  function hold(candidate: Candidate, provider: ChainClient, reason: string): void {
    const { payment, transfer } = candidate;
    const before = notes.get(payment.id);
    const now = clock.now();
    const waitMs = Math.min(retryMostMs, (before?.waitMs ?? retryFirstMs / 2) * 2);
    note(payment.id, { retryAt: now + waitMs, waitMs });
    const { provider: name } = provider;
    alarms.raise(
      "payment_held",
      payment.id,
      `a payment is held: a provider contradicts what was scanned (${name}: ${reason})`,
      {
        payment: payment.id,
        network: payment.network,
        transactionHash: transfer.transactionHash,
        provider: name,
        reason,
      },
    );
  }

  function note(id: string, value: Note): void {
    notes.delete(id);
    notes.set(id, value);
    const [oldest] = notes.keys();
    if (notes.size > notesMax && oldest !== undefined) notes.delete(oldest);
  }

  /** Since when a provider is of no use for a candidate; null while it is. */
  function missingSince(provider: ChainClient, opinion: Opinion): Instant | null {
    if (opinion !== "is_away" && opinion !== "is_behind") {
      missing.delete(provider);
      return null;
    }
    const now = clock.now();
    const before = missing.get(provider);
    // It may have recovered since, and nobody asked.
    const isSameOutage = before !== undefined && now - before.foundAt < patienceMs;
    const failing = opinion === "is_away" ? pool?.unusableSince(provider.provider) : null;
    // A clock that went back makes nobody wait for longer.
    const since = Math.min(now, isSameOutage ? before.since : now, failing ?? now);
    missing.set(provider, { since, foundAt: now });
    return since;
  }

  /** Whether the providers that are missing have been waited for long enough. */
  function isOutOfPatience({ payment }: Candidate, since: readonly Instant[]): boolean {
    // What one provider denied is never confirmed by another alone, not after a restart either.
    const isDenied = notes.has(payment.id) || alarms.holds("payment_held", payment.id);
    return !isDenied && since.every((each) => clock.now() - each >= patienceMs);
  }

  async function isAgreed(candidate: Candidate, round: Round): Promise<boolean> {
    const needed = Math.min(2, providers.length);
    let agreed = 0;
    let isEarly = false;
    const missingSinces: Instant[] = [];
    for (const provider of providers) {
      const opinion = await round.opinionOf(provider, candidate);
      const since = missingSince(provider, opinion);
      if (since !== null) missingSinces.push(since);
      if (typeof opinion === "object") {
        hold(candidate, provider, opinion.disagrees);
        return false;
      }
      if (opinion === "agrees") agreed += 1;
      isEarly ||= opinion === "is_early";
      if (agreed === needed) return true;
    }
    // One whose blocks are of just now is no provider that is missing: the chain itself is waited for.
    if (agreed === 0 || isEarly || !isOutOfPatience(candidate, missingSinces)) return false;
    logger.warn(
      { payment: candidate.payment.id, network: candidate.payment.network },
      "a payment is confirmed by one provider alone: no second one could be asked for a while",
    );
    return true;
  }

  return {
    async verify(candidates) {
      const now = clock.now();
      const due = candidates.filter(
        ({ payment }) => (notes.get(payment.id)?.retryAt ?? now) <= now,
      );
      const round = makeRound(now);
      const agreed: Candidate[] = [];
      for (let start = 0; start < due.length; start += parallel) {
        const group = due.slice(start, start + parallel);
        const verdicts = await Promise.all(group.map((candidate) => isAgreed(candidate, round)));
        agreed.push(...group.filter((_, place) => verdicts[place] === true));
      }
      for (const { payment } of agreed) {
        notes.delete(payment.id);
        alarms.clear("payment_held", payment.id);
      }
      return agreed;
    },
    held: () => [
      ...new Set([
        ...notes.keys(),
        ...alarms
          .open()
          .filter(({ kind, subject }) => kind === "payment_held" && subject !== restSubject)
          .map(({ subject }) => subject),
      ]),
    ],
    release(paymentIds) {
      for (const id of paymentIds) {
        notes.delete(id);
        alarms.clear("payment_held", id);
      }
    },
  };
}

interface Round {
  opinionOf(provider: ChainClient, candidate: Candidate): Promise<Opinion>;
}

/** One round of questions: a provider that fails is not asked again, and no receipt or tip is read twice. */
function makeRound(now: Instant): Round {
  const away = new Set<ChainClient>();
  const receipts = new Map<ChainClient, Map<string, Promise<Receipt | null>>>();
  const tips = new Map<ChainClient, Promise<Head>>();

  function once<K, V>(known: Map<K, Promise<V>>, key: K, read: () => Promise<V>): Promise<V> {
    let answer = known.get(key);
    if (answer === undefined) {
      answer = read();
      known.set(key, answer);
    }
    return answer;
  }

  function receiptsOf(provider: ChainClient): Map<string, Promise<Receipt | null>> {
    const known = receipts.get(provider) ?? new Map<string, Promise<Receipt | null>>();
    receipts.set(provider, known);
    return known;
  }

  const tipOf = (provider: ChainClient) =>
    once(tips, provider, async () => (await provider.heads()).latest);

  async function ask(provider: ChainClient, candidate: Candidate): Promise<Opinion> {
    const { transactionHash, blockHeight } = candidate.transfer;
    const receipt = await once(receiptsOf(provider), transactionHash, () =>
      provider.receipt(transactionHash),
    );
    const opinion = receipt === null ? null : compare(receipt, candidate.transfer);
    if (opinion !== null && opinion !== "agrees") return opinion;
    const tip = await tipOf(provider);
    if (opinion === null) {
      return tip.height < blockHeight
        ? "is_behind"
        : { disagrees: "it does not know the transaction" };
    }
    if (tip.height >= candidate.payment.confirmsAtHeight) return "agrees";
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

function compare(receipt: Receipt, transfer: TransferRow): Opinion {
  if (!receipt.succeeded) return { disagrees: "the transaction failed" };
  if (receipt.blockHash !== transfer.blockHash) {
    return { disagrees: "the transaction is in another block" };
  }
  return holds(receipt, transfer)
    ? "agrees"
    : { disagrees: "the transaction holds no such transfer" };
}

/** The transfer as it was scanned is in the receipt. */
function holds(receipt: Receipt, transfer: TransferRow): boolean {
  return receipt.transfers.some(
    (log) =>
      log.logIndex === transfer.logIndex &&
      log.contract === transfer.contract &&
      log.from === transfer.fromAddress &&
      log.to === transfer.toAddress &&
      log.amount === transfer.amount,
  );
}

/** Whether a provider still has a transfer where it was scanned. */
export async function isStillThere(client: ChainClient, transfer: TransferRow): Promise<boolean> {
  const receipt = await client.receipt(transfer.transactionHash);
  return receipt !== null && compare(receipt, transfer) === "agrees";
}
