import { compareRatios, ratio, readRatio, type Ratio } from "../../kernel/ratio.ts";
import { parseExactJson } from "./exact-json.ts";
import type { RatePair, RateSource } from "./plan.ts";

/** The part of `fetch` that is used; passed in, so that a test stands in. */
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
  readonly body: AsyncIterable<Uint8Array> | null;
}>;

/** Why a source gave no rate, in words for operators: without its URL, which may hold a key. */
export class SourceFault extends Error {
  override readonly name = "SourceFault";
}

/** For the whole exchange, the answer's last byte included. */
const answerMs = 10_000;
const answerBytesMax = 262_144;
const shownLengthMax = 40;
/** Beyond these no pair of money has a rate: the answer is about something else. */
const rateMost = readRatio("1000000000000");
const rateLeast = ratio(1n, rateMost.numerator);

/**
 * Asks a source for a pair's rate, exactly as it is written in the answer.
 * @throws SourceFault
 */
export async function askSource(
  source: RateSource,
  pair: RatePair,
  { fetch, signal }: { readonly fetch: RateFetch; readonly signal: AbortSignal },
): Promise<Ratio> {
  const text = await load(source, fetch, signal);
  const found = readRate(valueAt(parse(text), source.value));
  const rate = source.isInverted ? ratio(found.denominator, found.numerator) : found;
  const isAbsurd = isLess(rateMost, rate) || isLess(rate, rateLeast);
  const isOutside =
    (pair.least !== null && isLess(rate, pair.least)) ||
    (pair.most !== null && isLess(pair.most, rate));
  if (isAbsurd || isOutside) {
    throw new SourceFault("its rate is outside of what is believed of the pair");
  }
  return rate;
}

async function load(source: RateSource, fetch: RateFetch, signal: AbortSignal): Promise<string> {
  const timeout = AbortSignal.timeout(answerMs);
  try {
    const answer = await fetch(source.url, {
      method: "GET",
      headers: { accept: "application/json", "user-agent": "till" },
      redirect: "manual",
      signal: AbortSignal.any([signal, timeout]),
    });
    if (answer.status >= 300 && answer.status < 400) {
      throw new SourceFault("it redirects elsewhere, which is not followed");
    }
    if (answer.status !== 200) throw new SourceFault(`it answered HTTP ${String(answer.status)}`);
    return await readText(answer.body);
  } catch (error) {
    if (error instanceof SourceFault) throw error;
    if (timeout.aborted) throw new SourceFault(`no answer within ${String(answerMs)} ms`);
    throw new SourceFault("it cannot be reached");
  }
}

async function readText(body: AsyncIterable<Uint8Array> | null): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > answerBytesMax) {
      throw new SourceFault(`its answer is longer than ${String(answerBytesMax)} bytes`);
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

/** What a JSON Pointer leads to. */
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

function readRate(value: unknown): Ratio {
  const shown = JSON.stringify(value).slice(0, shownLengthMax);
  if (typeof value !== "string") throw new SourceFault(`its rate is no number but ${shown}`);
  try {
    return readRatio(value);
  } catch {
    throw new SourceFault(`its rate is ${shown}, not a plain decimal number above 0`);
  }
}

function isLess(one: Ratio, other: Ratio): boolean {
  return compareRatios(one, other) < 0;
}
