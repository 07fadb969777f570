import { parseUrl } from "../../../kernel/url.ts";
import { meaningOf, readError, retryAfter, wholeError, type StatedError } from "./errors.ts";
import { MalformedReply, readObject } from "./values.ts";
import { ProviderError, type LimitHint, type ProviderFault } from "../providers/error.ts";
import type { ProviderLimits } from "../providers/limits.ts";

/**
 * The part of `fetch` that Till uses. It is passed in, so that it can be replaced by a sender that pins addresses, or
 * by a test.
 */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>;

export interface FetchInit {
  readonly method: "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly redirect: "manual";
  readonly signal: AbortSignal;
}

export interface FetchResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array> | null;
}

export interface Endpoint {
  readonly url: string;
  /** The endpoint's number among several of the same origin, from 1. */
  readonly member: number;
  /** Headers that are sent with every request. Their values are secrets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: Fetch;
  /** Timeout of a whole exchange, up to the last byte of the response, in milliseconds. */
  readonly timeoutMs: number;
  readonly responseBytesMax: number;
  /** The limits of the provider, filled in from its refusals. */
  readonly limits: ProviderLimits;
  /** Aborts every exchange in progress. */
  readonly signal: AbortSignal | null;
  /** Awaited before every request; throws ProviderError if none may be sent. */
  readonly beforeRequest: (() => Promise<void>) | null;
}

export interface Call<T> {
  readonly method: string;
  readonly params: readonly unknown[];
  /** Reads the result; throws MalformedReply. */
  readonly read: (result: unknown) => T;
}

export type RpcResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: ProviderError };

export interface Transport {
  /** The provider's origin, with its number if several providers share that origin. */
  readonly provider: string;
  /** Makes one call; throws ProviderError. */
  call<T>(call: Call<T>): Promise<T>;
  /**
   * Makes several calls, in requests of as many as the provider allows. Each call has its own outcome; if a whole
   * request fails although it may have been smaller, `batch` throws.
   */
  batch<T>(calls: readonly Call<T>[]): Promise<RpcResult<T>[]>;
}

const errorTextLengthMax = 200;

/** Makes the transport. `note` counts the members of batches that belong to no call. */
export function makeTransport(endpoint: Endpoint, note: (part: "response") => void): Transport {
  const target = readTarget(endpoint);
  const { provider } = target;
  let lastId = 0;

  async function batch<T>(calls: readonly Call<T>[]): Promise<RpcResult<T>[]> {
    const outcomes: RpcResult<T>[] = [];
    while (outcomes.length < calls.length) {
      const end = outcomes.length + endpoint.limits.calls.current();
      outcomes.push(...(await sendSome(calls.slice(outcomes.length, end))));
    }
    return outcomes;
  }

  /** Makes the calls in one request, or as many of the first ones as the provider answers; at least one. */
  async function sendSome<T>(calls: readonly Call<T>[]): Promise<RpcResult<T>[]> {
    const { calls: limit } = endpoint.limits;
    try {
      const outcomes = await sendAll(calls);
      const refused = refusedFrom(outcomes);
      if (refused === null) {
        const isOverloaded = outcomes.some((one) => !one.ok && one.error.kind === "rate_limited");
        if (isOverloaded) limit.uncertain(calls.length, "it receives too many requests");
        else limit.accepted(calls.length);
        return outcomes;
      }
      if (refused.index === 0) return (await sendFirst(calls, refused.error)) ?? outcomes;
      limit.refused(calls.length, refused.error.message);
      return outcomes.slice(0, refused.index);
    } catch (error) {
      if (!(error instanceof ProviderError) || calls.length === 1) throw error;
      if (error.hint === "wait") limit.uncertain(calls.length, error.message);
      const isUnknown = error.hint === "calls" || error.hint === "unsaid";
      const first = isUnknown ? await sendFirst(calls, error) : null;
      if (first === null) throw error;
      return first;
    }
  }

  /**
   * Makes the first of several refused calls alone. Returns its outcome if the provider allows it, so that their number
   * was the reason; null if it fails in the same way, or if all of them work when they are repeated.
   */
  async function sendFirst<T>(
    calls: readonly Call<T>[],
    refused: ProviderError,
  ): Promise<RpcResult<T>[] | null> {
    try {
      const outcomes = await sendAll(calls.slice(0, 1));
      const [first] = outcomes;
      if (first?.ok !== true && first?.error.message === refused.message) return null;
      const isProven = refused.hint === "calls" || endpoint.limits.calls.learned() !== null;
      if (!isProven && (await hasReply(calls))) return null;
      endpoint.limits.calls.refused(calls.length, refused.message);
      return outcomes;
    } catch (error) {
      if (error instanceof ProviderError && error.kind !== "rate_limited") return null;
      throw error;
    }
  }

  /** True if the calls, sent once more, are answered: their failure was not due to their number. */
  async function hasReply<T>(calls: readonly Call<T>[]): Promise<boolean> {
    try {
      return refusedFrom(await sendAll(calls)) === null;
    } catch (error) {
      if (error instanceof ProviderError) return false;
      throw error;
    }
  }

  async function sendAll<T>(calls: readonly Call<T>[]): Promise<RpcResult<T>[]> {
    const requests = calls.map(({ method, params }) => {
      lastId += 1;
      return { jsonrpc: "2.0", id: lastId, method, params } as const;
    });
    const replies = await send(endpoint, target, requests, note);
    return calls.map((call, index) => {
      const reply = replies.get(requests[index]?.id ?? 0);
      if (reply !== undefined) return outcome(endpoint, target, call, reply);
      // A provider that answers only the first calls allows no more; one that leaves out another is at fault.
      const isCutOff = requests.slice(index).every(({ id }) => !replies.has(id));
      const hint = isCutOff ? "calls" : "none";
      const missing = { kind: "malformed", provider, hint } as const;
      return { ok: false, error: new ProviderError("a call has no response", missing) };
    });
  }

  return {
    provider,
    batch,
    async call(call) {
      const [first] = await batch([call]);
      if (first?.ok === true) return first.value;
      throw first?.error ?? malformed(target, "a call has no response");
    },
  };
}

/**
 * Returns the index of the first of several calls that was refused because of their number, with its error: it says so,
 * or all of them have the same error. Null without such a call.
 */
function refusedFrom<T>(
  outcomes: readonly RpcResult<T>[],
): { readonly index: number; readonly error: ProviderError } | null {
  if (outcomes.length === 1) return null;
  const errors = outcomes.map((one) => (one.ok ? null : one.error));
  const [first = null] = errors;
  const isSame =
    first?.hint === "unsaid" && errors.every((error) => error?.message === first.message);
  if (isSame) return { index: 0, error: first };
  for (const [index, error] of errors.entries())
    if (error?.hint === "calls") return { index, error };
  return null;
}

/** Returns the answers by id. Throws if the response as a whole is an error, or matches none of these calls. */
async function send(
  endpoint: Endpoint,
  target: Target,
  requests: readonly Request[],
  note: (part: "response") => void,
): Promise<Map<number, Reply>> {
  const [only] = requests;
  const isAboutLogs = requests.some(({ method }) => method === "eth_getLogs");
  const body = JSON.stringify(requests.length === 1 ? only : requests);
  const { response, text } = await exchange(endpoint, target, { body, isAboutLogs });
  const { status } = response;
  const parsed = parseJson(text);
  const error = wholeError(parsed, requests.length);
  if (status !== 200 || (error !== null && !isReplyTo(parsed, requests))) {
    const stated = error ?? { code: null, message: redirectOf(target, response) };
    throw refusal({ endpoint, target }, stated, { status, isAboutLogs }, retryAfter(response));
  }
  if (parsed === undefined) throw malformed(target, "the response is not JSON");
  try {
    return readReplies(parsed, requests, note);
  } catch (cause) {
    if (cause instanceof MalformedReply) throw malformed(target, cause.message);
    throw cause;
  }
}

/** Names the origin to which a response redirects, because the rest of the URL may be a key; empty without one. */
function redirectOf(target: Target, { status, headers }: FetchResponse): string {
  const location = headers.get("location");
  if (status < 300 || status > 399 || location === null) return "";
  const to = parseUrl(location, target.url)?.origin ?? "an invalid URL";
  return `it redirects to ${to}, which is not followed: configure the URL that it means`;
}

function outcome<T>(endpoint: Endpoint, target: Target, call: Call<T>, reply: Reply): RpcResult<T> {
  if ("error" in reply) {
    const request = { status: 200, isAboutLogs: call.method === "eth_getLogs" };
    return { ok: false, error: refusal({ endpoint, target }, reply.error, request, null) };
  }
  try {
    return { ok: true, value: call.read(reply.result) };
  } catch (cause) {
    const error = ofProvider(target, cause);
    if (error instanceof ProviderError) return { ok: false, error };
    throw error;
  }
}

/** Returns the error that the provider stated. */
function refusal(
  { endpoint, target }: { readonly endpoint: Endpoint; readonly target: Target },
  error: StatedError,
  request: { status: number; isAboutLogs: boolean },
  retryAfterMs: number | null,
): ProviderError {
  const isAskingToWait = retryAfterMs !== null;
  const { kind, hint } = meaningOf({ ...error, ...request, isAskingToWait });
  const code =
    error.code === null ? `HTTP ${String(request.status)}` : `code ${String(error.code)}`;
  const said = target.masked(error.message).slice(0, errorTextLengthMax);
  const message = said === "" ? code : `${said} (${code})`;
  const refused = { kind, provider: target.provider, retryAfterMs, hint };
  if (kind === "rate_limited") endpoint.limits.rateRefused(message);
  return new ProviderError(message, refused);
}

/** Returns the error for a response that is not one to this request. */
function malformed({ provider }: Target, message: string): ProviderError {
  return new ProviderError(message, { kind: "malformed", provider, hint: "unsaid" });
}

/** Names the provider of a malformed answer; returns other errors as they are. */
function ofProvider({ provider }: Target, error: unknown): unknown {
  if (!(error instanceof MalformedReply)) return error;
  const { kind, message } = error;
  const hint = kind === "range_too_large" ? "blocks" : "none";
  return new ProviderError(message, { kind, provider, hint });
}

interface Request {
  readonly jsonrpc: "2.0";
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

type Reply = { readonly result: unknown } | { readonly error: StatedError };

interface Exchange {
  readonly response: FetchResponse;
  readonly text: string;
}

/** Sends one request and reads its whole response. Throws ProviderError if no response arrives. */
async function exchange(
  endpoint: Endpoint,
  target: Target,
  request: { readonly body: string; readonly isAboutLogs: boolean },
): Promise<Exchange> {
  const { provider } = target;
  const fail = (kind: ProviderFault, message: string, hint: LimitHint = "none") =>
    new ProviderError(message, { kind, provider, hint });
  await endpoint.beforeRequest?.();
  const abort = new AbortController();
  const stop = () => {
    abort.abort();
  };
  const timer = setTimeout(stop, endpoint.timeoutMs);
  const ended = endpoint.limits.began();
  endpoint.signal?.addEventListener("abort", stop, { once: true });
  try {
    if (endpoint.signal?.aborted === true) stop();
    const response = await endpoint.fetch(target.url, {
      method: "POST",
      headers: target.headers,
      body: request.body,
      redirect: "manual",
      signal: abort.signal,
    });
    const text = await readText(response, endpoint.responseBytesMax);
    ended();
    return { response, text };
  } catch (error) {
    if (error instanceof TooLarge) {
      const limit = String(endpoint.responseBytesMax);
      const kind = request.isAboutLogs ? "range_too_large" : "malformed";
      throw fail(kind, `the response is longer than ${limit} bytes`, "unsaid");
    }
    if (endpoint.signal?.aborted === true) throw fail("unreachable", "Till is stopping");
    if (abort.signal.aborted) {
      throw fail("unreachable", `no response within ${String(endpoint.timeoutMs)} ms`, "wait");
    }
    throw fail("unreachable", `no response (${networkCode(error)})`, "unsaid");
  } finally {
    clearTimeout(timer);
    endpoint.signal?.removeEventListener("abort", stop);
  }
}

/**
 * Returns the answers to the requests, in any order. An answer that belongs to no request, or cannot be read, is counted
 * and spoils no other one; throws if none remains.
 */
function readReplies(
  parsed: unknown,
  requests: readonly Request[],
  note: (part: "response") => void,
): Map<number, Reply> {
  const entries: readonly unknown[] = requests.length > 1 ? asList(parsed) : [parsed];
  const ids = new Set(requests.map(({ id }) => id));
  const replies = new Map<number, Reply>();
  let fault = new MalformedReply("a call has no response");
  for (const entry of entries) {
    try {
      const [id, reply] = readEntry(entry, ids);
      replies.set(id, reply);
    } catch (error) {
      if (!(error instanceof MalformedReply)) throw error;
      note("response");
      fault = error;
    }
  }
  if (replies.size === 0) throw fault;
  return replies;
}

function readEntry(entry: unknown, ids: Set<number>): readonly [number, Reply] {
  const fields = readObject(entry, "a response");
  const { id, error, result } = fields;
  if (fields["jsonrpc"] !== "2.0") throw new MalformedReply("the response is not JSON-RPC 2.0");
  if (typeof id !== "number" || !ids.delete(id)) {
    throw new MalformedReply("the response has an id that was not requested");
  }
  if (error !== undefined && error !== null) return [id, { error: readError(error) }];
  if (result !== undefined) return [id, { result }];
  throw new MalformedReply("the response has neither a result nor an error");
}

function asList(parsed: unknown): readonly unknown[] {
  if (!Array.isArray(parsed)) throw new MalformedReply("the response to a batch is not a list");
  return parsed;
}

/** True for the answer, by id, to the one call that was sent. */
function isReplyTo(parsed: unknown, requests: readonly Request[]): boolean {
  if (requests.length > 1) return false;
  const { id, jsonrpc } = readObject(parsed, "a response");
  return jsonrpc === "2.0" && id === requests[0]?.id;
}

class TooLarge extends Error {}

async function readText(response: FetchResponse, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.byteLength;
    if (length > bytesMax) throw new TooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Parses JSON; undefined if the text is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A code such as ECONNREFUSED. The error's message is not used, because it may contain the URL. */
function networkCode(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const code = (cause as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "the connection failed";
}

interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly provider: string;
  /** Returns the text on one line, with every part of the URL and of the headers masked that may be a key. */
  masked(text: string): string;
}

function readTarget({ url: text, headers, member }: Endpoint): Target {
  const url = new URL(text);
  const secrets = [
    ...Object.values(headers),
    ...url.pathname.split("/"),
    ...url.searchParams.values(),
    url.password,
  ].filter((part) => part.length >= 8);
  const sent: Record<string, string> = { "content-type": "application/json", ...headers };
  if (url.username !== "" || url.password !== "") {
    const pair = [url.username, url.password].map(decodeURIComponent).join(":");
    sent["authorization"] = `Basic ${Buffer.from(pair).toString("base64")}`;
    url.username = "";
    url.password = "";
  }
  return {
    url: url.href,
    headers: sent,
    provider: member === 1 ? url.origin : `${url.origin} (${String(member)})`,
    masked(said) {
      const hidden = secrets.reduce((rest, secret) => rest.replaceAll(secret, "***"), said);
      return hidden.replace(/[\p{Cc}\s]+/gu, " ").trim();
    },
  };
}
