import { day, hour, second, type Clock, type Instant } from "../../kernel/clock.ts";
import { compareRatios, ratio, readRatio, type Ratio } from "../../kernel/money/ratio.ts";
import { parseUrl } from "../../kernel/url.ts";
import { parseRetryAfter } from "../outbound/response.ts";
import type { RatePair, RateSource, RatesPlan } from "./plan.ts";

/** The part of `fetch` that is used; passed in, so that tests replace it. */
export type RateFetch = (
  url: string,
  init: {
    readonly method: "GET";
    readonly headers: Readonly<Record<string, string>>;
    readonly redirect: "manual";
    readonly signal: AbortSignal;
  },
) => Promise<{
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array> | null;
}>;

/** How sources are fetched. */
interface Asking {
  readonly fetch: RateFetch;
  /** Aborted when the program stops. */
  readonly signal: AbortSignal;
  /** The time limit for request and response, in milliseconds (10,000). */
  readonly replyMs?: number;
}

/** The reply of one source for one pair. */
export type SourceReply =
  | { readonly source: string; readonly rate: Ratio }
  | { readonly source: string; readonly fault: string };

/** The reason why a source gave no rate, for operators: without its URL, which may contain a key. */
export class SourceFault extends Error {
  override readonly name = "SourceFault";
  /** The delay that the source requested (`Retry-After`), in milliseconds; null: none. */
  readonly retryAfterMs: number | null;

  constructor(message: string, retryAfterMs: number | null = null) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** The time limit for request and response, including the last byte, in milliseconds. */
const replyMsMax = 10_000;
const replyBytesMax = 262_144;
const shownLengthMax = 40;
/**
 * The maximum age of a dated rate. Central banks publish on working days: the rate of Maundy Thursday is replaced on
 * the Tuesday after Easter.
 */
const quoteAgeMax = 7 * day;
/** How far in the future a rate's date may be: one day, because dates begin earlier in the east. */
const quoteAheadMax = day;
/** The limits of any plausible rate; a value beyond them is something else. */
const rateMost = readRatio("1000000000000");
const rateLeast = ratio(1n, rateMost.numerator);

/**
 * Fetches a source's response: JSON, with numbers as their literal text.
 * @throws SourceFault
 */
export async function loadReply(url: string, at: Instant, asking: Asking): Promise<unknown> {
  return parse(await load(url, at, asking));
}

/**
 * Reads a pair's rate from a source's response, exactly.
 * @throws SourceFault
 */
export function readReply(
  document: unknown,
  source: RateSource,
  pair: RatePair,
  at: Instant,
): Ratio {
  if (source.dated !== null) requireRecent(valueAt(document, source.dated), at);
  const found = readRate(valueAt(document, source.value));
  const rate = source.isInverted ? ratio(found.denominator, found.numerator) : found;
  const isAbsurd = isLess(rateMost, rate) || isLess(rate, rateLeast);
  const isOutside =
    (pair.least !== null && isLess(rate, pair.least)) ||
    (pair.most !== null && isLess(pair.most, rate));
  if (isAbsurd || isOutside) {
    throw new SourceFault("its rate is outside the plausible range of the pair");
  }
  return rate;
}

async function load(
  url: string,
  at: Instant,
  { fetch, signal, replyMs = replyMsMax }: Asking,
): Promise<string> {
  const timeout = AbortSignal.timeout(replyMs);
  try {
    const { status, headers, body } = await fetch(url, {
      method: "GET",
      headers: { accept: "application/json", "user-agent": "till" },
      redirect: "manual",
      signal: AbortSignal.any([signal, timeout]),
    });
    if (status === 200) return await readText(body);
    // An unread body would keep the connection busy.
    await body?.[Symbol.asyncIterator]().return?.();
    if (status >= 300 && status < 400) {
      const to = parseUrl(headers.get("location") ?? "", url)?.origin ?? "an invalid URL";
      throw new SourceFault(`it answered with a redirect to ${to}, which is not followed`);
    }
    const retryAfterMs = parseRetryAfter(headers.get("retry-after") ?? undefined, at);
    throw new SourceFault(`it answered HTTP ${String(status)}`, retryAfterMs);
  } catch (error) {
    if (error instanceof SourceFault) throw error;
    if (timeout.aborted) throw new SourceFault(`no answer within ${String(replyMs)} ms`);
    throw new SourceFault("it cannot be reached");
  }
}

async function readText(body: AsyncIterable<Uint8Array> | null): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > replyBytesMax) {
      throw new SourceFault(`its answer is longer than ${String(replyBytesMax)} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parse(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    const what = text.trimStart().startsWith("<") ? "its answer is HTML" : "its answer is not JSON";
    throw new SourceFault(what);
  }
}

/** Returns the value at a JSON Pointer. */
function valueAt(document: unknown, pointer: string): unknown {
  let value = document;
  for (const part of pointer.slice(1).split("/")) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    const isThere = typeof value === "object" && value !== null && Object.hasOwn(value, key);
    if (!isThere) throw new SourceFault(`its answer has nothing at ${pointer}`);
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value;
}

const dayForm = /^[0-9]{4}-[0-9]{2}-[0-9]{2}/;
/** Seconds since the Unix epoch, with parts of a second or without. */
const unixForm = /^[0-9]{9,11}(?:\.[0-9]+)?$/;
const unixMillisecondsForm = /^[0-9]{12,14}$/;

/** Rejects stale rates: a source that still responds but stopped publishing would otherwise be believed forever. */
function requireRecent(value: unknown, at: Instant): void {
  const text = typeof value === "string" ? value : "";
  const of = unixForm.test(text)
    ? Number(text) * second
    : unixMillisecondsForm.test(text)
      ? Number(text)
      : dayForm.test(text)
        ? Date.parse(text)
        : Number.NaN;
  const shown = JSON.stringify(value).slice(0, shownLengthMax);
  if (Number.isNaN(of)) throw new SourceFault(`its rate is dated ${shown}, which is not a date`);
  if (at - of > quoteAgeMax || of - at > quoteAheadMax) {
    throw new SourceFault(`its rate is dated ${shown}, too far from today`);
  }
}

function readRate(value: unknown): Ratio {
  const shown = JSON.stringify(value).slice(0, shownLengthMax);
  if (typeof value !== "string") throw new SourceFault(`its rate is ${shown}, not a number`);
  try {
    return readRatio(plainDecimal(value));
  } catch {
    throw new SourceFault(`its rate is ${shown}, not a plain decimal number above 0`);
  }
}

const exponentForm = /^(\d{1,40})(?:\.(\d{1,40}))?[eE]([+-]?\d{1,2})$/;

/** Writes a number with an exponent, which JSON allows, in plain digits. Returns any other text as it is. */
function plainDecimal(text: string): string {
  const [, whole = "", part = "", power = ""] = exponentForm.exec(text.trim()) ?? [];
  if (power === "") return text;
  const point = whole.length + Number(power);
  const digits = `${"0".repeat(Math.max(0, 1 - point))}${whole}${part}`.padEnd(point, "0");
  const at = Math.max(1, point);
  const fraction = digits.slice(at);
  const plain = `${digits.slice(0, at)}${fraction === "" ? "" : "."}${fraction}`;
  return plain.replace(/^0+(?=\d)/, "");
}

function isLess(one: Ratio, other: Ratio): boolean {
  return compareRatios(one, other) < 0;
}

/** A string or a number; strings are matched too, so that digits inside them are left alone. */
const token = /"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9][0-9.eE+-]*/g;

/**
 * Parses JSON with numbers as their literal text, because a float would round them: `{"p": 1.10}` gives `{ p: "1.10"
 * }`.
 * @throws SyntaxError
 */
export function parseExactJson(text: string): unknown {
  // Validates the text: the pattern is reliable only for valid JSON.
  JSON.parse(text);
  return JSON.parse(text.replace(token, (found) => (found.startsWith('"') ? found : `"${found}"`)));
}

/** The delay of the first retry, in milliseconds; it doubles with each further failure. */
const backoffFirst = 30 * second;
const backoffMost = hour;
/** The longest `Retry-After` that is respected, in milliseconds. */
const retryAfterMost = day;

/** Polls the sources of a plan, each at its own interval, and keeps their latest responses. */
interface RatePoller {
  /** True if a source is due. */
  isDue(now: Instant): boolean;
  /** Polls the due sources, or all of them, concurrently. Never rejects because of a source's failure. */
  poll(which: "due" | "all"): Promise<void>;
  /** Returns the latest readings for a pair; sources that were never polled are left out. */
  repliesOf(pair: RatePair): SourceReply[];
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
  replies: ReadonlyMap<string, SourceReply>;
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
      document = await loadReply(url, at, asking);
    } catch (error) {
      if (!(error instanceof SourceFault)) throw error;
      fault = error;
    }
    const replies = readers.map((reader): [string, SourceReply] => [
      keyOf(reader),
      fault === null
        ? replyOf(document, reader, at)
        : { source: reader.source.name, fault: fault.message },
    ]);
    endpoint.replies = new Map(replies);
    const isAnswered = replies.some(([, reply]) => "rate" in reply);
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
    repliesOf(pair) {
      return pair.sources.flatMap(
        (source) => endpoints.get(source.url)?.replies.get(keyOf({ pair, source })) ?? [],
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
        endpoints.set(url, { url, refreshMs, readers, replies: new Map(), faults: 0, dueAt: 0 });
      }
    }
  }
  return endpoints;
}

const keyOf = ({ pair, source }: Reader) => `${pair.name} ${source.name}`;

function replyOf(document: unknown, { pair, source }: Reader, at: Instant): SourceReply {
  const { name } = source;
  try {
    return { source: name, rate: readReply(document, source, pair, at) };
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
