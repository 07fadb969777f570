import { day, minute, second, type Clock, type Instant } from "../../../kernel/clock.ts";
import type { ChainAlarms } from "../state/alarms.ts";
import type { ChainClient, Heads, KnownChain } from "../client.ts";
import { headTimeFault } from "../state/head-times.ts";
import type { Network } from "../networks.ts";
import { slowMs, type ProviderBudget, type ProviderLimits } from "./limits.ts";
import { ProviderError } from "./error.ts";
import type {
  OmittedTransfer,
  ProviderCondition,
  ProviderCounts,
  ProviderHealth,
} from "../state/provider-health.ts";
import { makeCallRecord, type CallRecord, type RpcMethod } from "./call-record.ts";
import { probeLogs, stillOmits, type Verdict } from "./probe.ts";

/** A node of a network, as the settings or the network table name it. */
export interface ProviderEndpoint {
  readonly url: string;
  /** The headers of every request; their values are secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** The maximum number of calls in one batch request. */
  readonly batchMax: number;
  readonly requestsPerSecond: number;
  readonly requestsPerDay: number | null;
}

/** A provider of a network, with its budget of requests; null: unlimited. */
export interface PooledProvider {
  readonly client: ChainClient;
  readonly budget: ProviderBudget | null;
  /** The limits that the provider showed, and its speed; absent for simulated providers. */
  readonly limits?: ProviderLimits;
  /**
   * Returns when somebody last ended the provider's failures; 0: never. Only simulated providers have it: real ones
   * serve their whole backoff and quarantine.
   */
  healedAt?(): Promise<Instant>;
}

/** A provider with its state: when it may be called, and whether its responses are trusted. */
export interface PoolMember {
  readonly client: ChainClient;
  /** True during the backoff after a failure: a call then throws the last failure. */
  isLeftAlone(): boolean;
  /** The rank among the providers that may be called; lower is better. */
  rank(): number;
  /** True if its responses take long: faster ones of the same rank are preferred. */
  isSlow(): boolean;
  /** The height of its newest block; 0 if it has reported none, or is distrusted. */
  tipHeight(): number;
  /** The newest and the final block that it last reported; null if it has reported none, or is distrusted. */
  heard(): (Heads & { readonly at: Instant }) | null;
  lastFailure(): ProviderError | null;
  /** Since when it has failed or been excluded; null if its last call succeeded. */
  unusableSince(): Instant | null;
  /**
   * Calls the provider, after its chain id was checked, and records the outcome. `isReply` selects errors that say
   * nothing about the provider.
   */
  ask<T>(
    question: RpcMethod,
    work: (client: ChainClient) => Promise<T>,
    isReply?: (error: ProviderError) => boolean,
  ): Promise<T>;
  /** Returns its tip and final block, and probes its logs if that is due. Rejects times that cannot be true. */
  heads(known?: KnownChain): Promise<Heads>;
  /** Excludes the provider for an omitted transfer until a probe finds its logs complete. */
  distrust(reason: string, omitted: OmittedTransfer): void;
  /** True: other providers have newer blocks, and are preferred for a while. False ends that. */
  setBehind(isBehind: boolean): void;
  /** Its responses contradict each other: other providers are preferred for a while, and its tip is ignored. */
  suspect(reason: string): void;
  /** It gave a block an impossible time: as `suspect`, and raises an alarm. */
  suspectTime(reason: string, details?: Readonly<Record<string, unknown>>): void;
  /**
   * Ends the backoff of a simulated provider whose failures were ended since the last call; returns true if they were.
   * The next call checks its chain and its logs, so that one whose logs omit transfers stays excluded.
   */
  readmit(): Promise<boolean>;
  /** When `readmit` last ended a backoff; 0: never. */
  readmittedAt(): Instant;
  health(best: number, isInUse: boolean): ProviderHealth;
  /** Continues from the health that another process stored. */
  resume(before: ProviderHealth): void;
  counts(): ProviderCounts;
}

/** Backoff of a provider that serves another chain, or whose logs omit transfers, before the next check. */
const excludedMs = 5 * minute;
/** Interval of probes. A log index may also break while the node runs. */
const probeEveryMs = 10 * minute;

interface PoolDeps {
  readonly network: Network;
  readonly clock: Clock;
  readonly random: () => number;
  readonly alarms: ChainAlarms;
  /** The number of the network's providers. */
  readonly providers: number;
  /** Called when the provider may not be called for now. */
  readonly onLeft: (client: ChainClient) => void;
}

interface State extends PoolDeps, PooledProvider {
  readonly position: number;
  readonly calls: CallRecord;
  readonly quarantine: Quarantine;
  chainCheckedAt: Instant | null;
  probedAt: Instant | null;
  provenAt: Instant | null;
  omitted: OmittedTransfer | null;
  heard: (Heads & { readonly at: Instant }) | null;
  unusableSince: Instant | null;
  /** The last `healedAt` that was seen. */
  healedAtSeen: Instant;
  readmittedAt: Instant;
}

export function makePoolMember(
  deps: PoolDeps,
  pooled: PooledProvider,
  position: number,
): PoolMember {
  const { clock, random } = deps;
  const calls = makeCallRecord(clock, random);
  const quarantine = makeQuarantine(clock);
  const state: State = {
    ...deps,
    ...pooled,
    position,
    calls,
    quarantine,
    chainCheckedAt: null,
    probedAt: null,
    provenAt: null,
    omitted: null,
    heard: null,
    unusableSince: null,
    healedAtSeen: 0,
    readmittedAt: 0,
  };
  const heard = () => (quarantine.isBelieved() ? state.heard : null);
  return {
    heads: (known?: KnownChain) => heads(state, known),
    distrust(reason: string, omitted: OmittedTransfer): void {
      distrust(state, reason, omitted);
    },
    setBehind(isBehind: boolean): void {
      setBehind(state, isBehind);
    },
    suspect(reason: string): void {
      suspect(state, reason);
    },
    suspectTime(reason: string, details?: Readonly<Record<string, unknown>>): void {
      suspectTime(state, reason, details);
    },
    readmit: () => readmit(state),
    health: (best: number, isInUse: boolean) => health(state, best, isInUse),
    resume(before: ProviderHealth): void {
      resume(state, before);
    },
    client: pooled.client,
    ask: (question, work, isReply) => ask(state, question, work, isReply),
    isLeftAlone: () => quarantine.has("waiting"),
    rank: () => quarantine.rank(),
    isSlow: () => pooled.limits?.isSlow() === true,
    heard,
    tipHeight: () => heard()?.latest.height ?? 0,
    lastFailure: () => calls.lastFailure(),
    unusableSince: () => state.unusableSince,
    readmittedAt: () => state.readmittedAt,
    counts: () => ({
      provider: pooled.client.provider,
      ...calls.counts(),
      dropped: pooled.client.dropped?.() ?? {},
    }),
  };
}

async function ask<T>(
  state: State,
  question: RpcMethod,
  work: (client: ChainClient) => Promise<T>,
  isReply?: (error: ProviderError) => boolean,
): Promise<T> {
  const failure = state.calls.lastFailure();
  if (state.quarantine.has("waiting") && failure !== null) throw failure;
  await assertChain(state);
  return call(state, question, work, isReply);
}

async function call<T>(
  state: State,
  question: RpcMethod,
  work: (client: ChainClient) => Promise<T>,
  isReply: (error: ProviderError) => boolean = () => false,
): Promise<T> {
  const begun = state.clock.now();
  try {
    const reply = await work(state.client);
    answered(state, question, begun);
    return reply;
  } catch (error) {
    // A provider that was not asked has neither answered nor failed.
    if (!(error instanceof ProviderError) || error.isUnasked) throw error;
    if (isReply(error)) answered(state, question, begun);
    else failed(state, question, error);
    throw error;
  } finally {
    reportSpeed(state);
  }
}

/** Raises or ends the alarm of a provider whose responses take long. */
function reportSpeed({ limits, alarms, client, network }: State): void {
  const { provider } = client;
  if (limits?.isSlow() !== true) {
    alarms.clear("provider_slow", provider);
    return;
  }
  alarms.raise(
    "provider_slow",
    provider,
    `${provider} takes more than ${String(slowMs / second)} s to answer; a faster provider is preferred if one is configured`,
    { network: network.id },
  );
}

function answered(state: State, question: RpcMethod, begun: Instant): void {
  state.calls.answered(question, begun);
  if (!state.quarantine.isExcluded()) state.unusableSince = null;
}

function failed(state: State, question: RpcMethod, error: ProviderError): void {
  leaveAlone(state, error, state.calls.failed(question, error));
}

function leaveAlone(state: State, error: ProviderError, milliseconds: number): void {
  state.calls.note(error);
  state.quarantine.wait(milliseconds);
  state.unusableSince ??= state.clock.now();
  // After the failure, another node may respond at this URL.
  state.chainCheckedAt = null;
  state.onLeft(state.client);
}

async function assertChain(state: State): Promise<void> {
  const { clock, network, client, chainCheckedAt } = state;
  if (chainCheckedAt !== null && clock.now() - chainCheckedAt < day) return;
  const chainId = await call(state, "chainId", () => client.chainId());
  if (chainId !== network.chainId) {
    throw exclude(
      state,
      "wrong_chain",
      `it serves chain ${String(chainId)}, but ${network.title} is chain ` +
        `${String(network.chainId)}. Correct the network's provider.`,
    );
  }
  state.chainCheckedAt = clock.now();
  include(state, "wrong_chain");
}

async function heads(state: State, known?: KnownChain): Promise<Heads> {
  const { clock, client } = state;
  const reported = await ask(state, "heads", async () =>
    checkTimes(state, await client.heads(known), known),
  );
  state.heard = { ...reported, at: clock.now() };
  const isDue = state.probedAt === null || clock.now() - state.probedAt >= probeEveryMs;
  if (isDue) await probe(state, reported.finalized.height);
  return reported;
}

/** Throws if the times of the heads cannot be true. */
function checkTimes(state: State, reported: Heads, known: KnownChain | undefined): Heads {
  const { clock, alarms, client, quarantine } = state;
  const fault = headTimeFault(reported, clock.now(), known, state.providers);
  if (fault !== null) {
    suspectTime(state, fault.reason, fault.details);
    throw new ProviderError(fault.reason, { kind: "malformed", provider: client.provider });
  }
  if (!quarantine.has("distrusted")) alarms.clear("provider_wrong_time", client.provider);
  return reported;
}

/** Throws if the provider's logs omit transfers. */
async function probe(state: State, finalHeight: number): Promise<void> {
  const contracts = state.network.tokens.map(({ contract }) => contract);
  let verdict: Verdict;
  try {
    // Not every provider serves receipts of blocks, and the blocks of a quiet chain contain no transfer: the transfer for
    // which a provider is excluded can always be compared.
    if (state.omitted !== null && (await stillOmits(state.client, state.omitted, contracts))) {
      verdict = { reason: "its logs still omit a transfer", omitted: state.omitted };
    } else verdict = await probeLogs(state.client, finalHeight, contracts);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    failed(state, "probe", error);
    throw error;
  }
  if (typeof verdict === "object") throw excludeFor(state, verdict);
  state.calls.recovered("probe");
  state.probedAt = state.clock.now();
  if (verdict === "works") state.provenAt = state.probedAt;
  state.omitted = null;
  include(state, "silent_logs");
}

function exclude(
  state: State,
  kind: "wrong_chain" | "silent_logs",
  message: string,
): ProviderError {
  const { provider } = state.client;
  const error = new ProviderError(message, { kind: "refused", provider });
  state.quarantine.put(kind);
  state.probedAt = null;
  leaveAlone(state, error, excludedMs);
  state.alarms.raise(`provider_${kind}`, provider, message, { network: state.network.id });
  return error;
}

function include({ quarantine, alarms, client }: State, kind: "wrong_chain" | "silent_logs"): void {
  quarantine.lift(kind);
  alarms.clear(`provider_${kind}`, client.provider);
}

function excludeFor(state: State, { reason, omitted }: Exclude<Verdict, string>): ProviderError {
  state.omitted = omitted;
  return exclude(state, "silent_logs", reason);
}

function distrust(state: State, reason: string, omitted: OmittedTransfer): void {
  excludeFor(state, { reason, omitted });
}

function setBehind({ quarantine }: State, isBehind: boolean): void {
  if (isBehind) quarantine.put("behind");
  else quarantine.lift("behind");
}

function suspect({ quarantine, calls, client }: State, reason: string): void {
  quarantine.put("distrusted");
  calls.note(new ProviderError(reason, { kind: "malformed", provider: client.provider }));
}

function suspectTime(
  state: State,
  reason: string,
  details: Readonly<Record<string, unknown>> = {},
): void {
  const { alarms, network, client } = state;
  suspect(state, reason);
  const message = `${client.provider} is distrusted: ${reason}`;
  alarms.raise("provider_wrong_time", client.provider, message, {
    network: network.id,
    ...details,
  });
}

async function readmit(state: State): Promise<boolean> {
  const { clock, quarantine, calls } = state;
  const healedAt = (await state.healedAt?.()) ?? 0;
  if (healedAt === state.healedAtSeen) return false;
  for (const reason of ["waiting", "distrusted", "behind"] as const) quarantine.lift(reason);
  calls.forgive();
  state.chainCheckedAt = null;
  state.probedAt = null;
  state.healedAtSeen = healedAt;
  state.readmittedAt = clock.now();
  return true;
}

function health(state: State, best: number, isInUse: boolean): ProviderHealth {
  const { position, client, budget, calls, quarantine, heard } = state;
  const { unusableSince, provenAt, omitted } = state;
  const answeredAt = calls.answeredAt();
  const spent = budget?.spentToday() ?? { day: 0, requests: 0 };
  return {
    place: position,
    provider: client.provider,
    condition: quarantine.condition() ?? (answeredAt === null ? "unknown" : "ok"),
    isInUse,
    latencyMs: calls.latencyMs(),
    tipHeight: heard?.latest.height ?? null,
    lagBlocks: heard === null ? null : Math.max(0, best - heard.latest.height),
    errorPercent: calls.errorPercent(),
    requestsToday: spent.requests,
    budgetDay: spent.day,
    requestsPerDay: budget?.requestsPerDay ?? null,
    lastError: calls.lastError(),
    retryAt: quarantine.retryAt(),
    answeredAt,
    unusableSince,
    provenAt,
    omitted,
    againAt: quarantine.againAt(),
    healedAt: state.healedAtSeen,
    dropped: client.dropped?.() ?? {},
    limits: state.limits?.learned() ?? [],
  };
}

function resume(state: State, before: ProviderHealth): void {
  state.budget?.spentBefore({ day: before.budgetDay, requests: before.requestsToday });
  state.limits?.resume(before.limits ?? []);
  state.calls.resume(before.answeredAt);
  state.provenAt = before.provenAt ?? null;
  state.omitted = before.omitted ?? null;
  state.unusableSince = before.unusableSince ?? null;
  // Its logs are probed again before it is used: only the rank is restored.
  if (before.condition === "silent_logs") state.quarantine.put("silent_logs");
}

/**
 * Why a provider is not called, or why others are preferred:
 * - `wrong_chain`: it serves another chain, until a check of its chain id succeeds
 * - `silent_logs`: its logs omit transfers, until a probe finds them complete
 * - `waiting`: the backoff after a failure; it is not called
 * - `distrusted`: its responses contradict each other or are impossible; its tip is ignored
 * - `behind`: other providers have newer blocks
 */
type QuarantineReason = "wrong_chain" | "silent_logs" | "waiting" | "distrusted" | "behind";

/** The duration of each reason, in milliseconds; `waiting` has the length of the backoff. */
const durationMs = {
  wrong_chain: Infinity,
  silent_logs: Infinity,
  distrusted: 5 * minute,
  behind: 15 * second,
} as const satisfies Record<Exclude<QuarantineReason, "waiting">, number>;

/** The conditions that operators see, the most serious first. */
const conditions: readonly (readonly [QuarantineReason, ProviderCondition])[] = [
  ["wrong_chain", "wrong_chain"],
  ["silent_logs", "silent_logs"],
  ["waiting", "waiting"],
  ["distrusted", "behind"],
  ["behind", "behind"],
];

/** The reasons, each with its end, for which a provider is not used like the others. Decides what follows from them. */
interface Quarantine {
  put(reason: keyof typeof durationMs): void;
  /** Begins a backoff. */
  wait(milliseconds: number): void;
  lift(reason: QuarantineReason): void;
  has(reason: QuarantineReason): boolean;
  /** Returns the end of a backoff; null outside one. */
  retryAt(): Instant | null;
  /** Returns the time from which it is checked or used again; null without a reason, and if the next check is due. */
  againAt(): Instant | null;
  /** True if its blocks and logs may not be used at all. */
  isExcluded(): boolean;
  /** True if the blocks that it reported count. */
  isBelieved(): boolean;
  /**
   * The rank among the providers that may be called; lower is better. Providers that are passed over come after the
   * others, those whose logs omit transfers last.
   */
  rank(): number;
  /** The condition for operators; null if there is no reason. */
  condition(): ProviderCondition | null;
}

export function makeQuarantine(clock: Clock): Quarantine {
  const reasons = new Map<QuarantineReason, { readonly since: Instant; readonly until: Instant }>();

  function enter(reason: QuarantineReason, milliseconds: number): void {
    const since = clock.now();
    reasons.set(reason, { since, until: since + milliseconds });
  }

  /** If the clock was set back to before the beginning, the end is meaningless. */
  function has(reason: QuarantineReason): boolean {
    const entry = reasons.get(reason);
    const now = clock.now();
    if (entry === undefined) return false;
    return entry.until === Infinity || (now >= entry.since && now < entry.until);
  }

  const isExcluded = () => has("wrong_chain") || has("silent_logs");
  return {
    put(reason) {
      enter(reason, durationMs[reason]);
    },
    wait(milliseconds) {
      enter("waiting", milliseconds);
    },
    lift(reason) {
      reasons.delete(reason);
    },
    has,
    retryAt: () => (has("waiting") ? (reasons.get("waiting")?.until ?? null) : null),
    againAt() {
      const ends = [...reasons].flatMap(([reason, { until }]) =>
        has(reason) && until !== Infinity ? [until] : [],
      );
      return ends.length === 0 ? null : Math.max(...ends);
    },
    isExcluded,
    isBelieved: () => !isExcluded() && !has("distrusted"),
    rank: () => (has("silent_logs") ? 2 : 0) + (has("distrusted") || has("behind") ? 1 : 0),
    condition: () => conditions.find(([reason]) => has(reason))?.[1] ?? null,
  };
}
