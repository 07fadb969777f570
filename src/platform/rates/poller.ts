import { day, hour, second, type Clock, type Instant } from "../../kernel/clock.ts";
import type { RatePair, RateSource, RatesPlan } from "./plan.ts";
import { loadAnswer, readAnswer, SourceFault, type Asking, type SourceAnswer } from "./source.ts";

/** The delay of the first retry, in milliseconds; it doubles with each further failure. */
const backoffFirst = 30 * second;
const backoffMost = hour;
/** The longest `Retry-After` that is respected, in milliseconds. */
const retryAfterMost = day;

/** Polls the sources of a plan, each at its own interval, and keeps their latest responses. */
export interface RatePoller {
  /** True if a source is due. */
  isDue(now: Instant): boolean;
  /** Polls the due sources, or all of them, concurrently. Never rejects because of a source's failure. */
  poll(which: "due" | "all"): Promise<void>;
  /** Returns the latest readings for a pair; sources that were never polled are left out. */
  answersOf(pair: RatePair): SourceAnswer[];
  /** Returns the time of the next poll for the pair; if most of its sources fail, the next poll of a failed one. */
  nextAt(pair: RatePair): Instant;
}

/** A pair and the source from whose response its rate is read. */
interface Reader {
  readonly pair: RatePair;
  readonly source: RateSource;
}

/** A URL, fetched once for all pairs whose rates it contains. */
interface Endpoint {
  readonly url: string;
  readonly refreshMs: number;
  readonly readers: Reader[];
  /** Readings by `keyOf` the reader. */
  answers: ReadonlyMap<string, SourceAnswer>;
  /** The number of consecutive failures. */
  faults: number;
  dueAt: Instant;
}

export function createPoller(deps: {
  readonly plan: RatesPlan;
  readonly clock: Clock;
  readonly asking: Asking;
}): RatePoller {
  const { plan, clock, asking } = deps;
  const endpoints = endpointsOf(plan);

  async function ask(endpoint: Endpoint): Promise<void> {
    const { url, readers, refreshMs } = endpoint;
    const at = clock.now();
    let document: unknown = null;
    let fault: SourceFault | null = null;
    try {
      document = await loadAnswer(url, at, asking);
    } catch (error) {
      if (!(error instanceof SourceFault)) throw error;
      fault = error;
    }
    const answers = readers.map((reader): [string, SourceAnswer] => [
      keyOf(reader),
      fault === null
        ? answerOf(document, reader, at)
        : { source: reader.source.name, fault: fault.message },
    ]);
    endpoint.answers = new Map(answers);
    const isAnswered = answers.some(([, answer]) => "rate" in answer);
    endpoint.faults = isAnswered ? 0 : endpoint.faults + 1;
    const asked = Math.min(fault?.retryAfterMs ?? 0, retryAfterMost);
    const waitMs = isAnswered ? refreshMs : Math.max(backoff(endpoint.faults, refreshMs), asked);
    endpoint.dueAt = at + waitMs;
  }

  // A due time further ahead than any interval can only come from a clock that was set back since.
  const isEndpointDue = ({ dueAt }: Endpoint, now: Instant) =>
    dueAt <= now || dueAt - now > retryAfterMost;

  return {
    isDue: (now) => [...endpoints.values()].some((endpoint) => isEndpointDue(endpoint, now)),
    async poll(which) {
      const now = clock.now();
      const all = [...endpoints.values()];
      await Promise.all(
        all.filter((endpoint) => which === "all" || isEndpointDue(endpoint, now)).map(ask),
      );
    },
    answersOf(pair) {
      return pair.sources.flatMap(
        (source) => endpoints.get(source.url)?.answers.get(keyOf({ pair, source })) ?? [],
      );
    },
    nextAt(pair) {
      const own = pair.sources.flatMap(({ url }) => endpoints.get(url) ?? []);
      const faulty = own.filter(({ faults }) => faults > 0);
      const awaited = faulty.length * 2 > own.length ? faulty : own;
      return Math.min(...awaited.map(({ dueAt }) => dueAt));
    },
  };
}

/** Returns the endpoints of a plan by URL. */
function endpointsOf({ pairs }: RatesPlan): ReadonlyMap<string, Endpoint> {
  const endpoints = new Map<string, Endpoint>();
  for (const pair of pairs) {
    for (const source of pair.sources) {
      const { url, refreshMs } = source;
      const known = endpoints.get(url);
      if (known !== undefined) known.readers.push({ pair, source });
      else {
        const readers = [{ pair, source }];
        endpoints.set(url, { url, refreshMs, readers, answers: new Map(), faults: 0, dueAt: 0 });
      }
    }
  }
  return endpoints;
}

const keyOf = ({ pair, source }: Reader) => `${pair.name} ${source.name}`;

function answerOf(document: unknown, { pair, source }: Reader, at: Instant): SourceAnswer {
  const { name } = source;
  try {
    return { source: name, rate: readAnswer(document, source, pair, at) };
  } catch (error) {
    if (!(error instanceof SourceFault)) throw error;
    return { source: name, fault: error.message };
  }
}

/**
 * Returns the delay after a number of consecutive failures, in milliseconds: at most an hour, or the source's interval
 * if that is longer.
 */
function backoff(faults: number, refreshMs: number): number {
  const first = Math.min(backoffFirst, refreshMs);
  return Math.min(first * 2 ** Math.min(faults - 1, 20), Math.max(backoffMost, refreshMs));
}
