import type { Fetch, FetchAnswer } from "./fetch.ts";
import { faultOf, readError, retryAfter, wholeError, type StatedError } from "./errors.ts";
import { MalformedAnswer, readObject } from "./values.ts";
import { ProviderError, type ProviderFault } from "../providers/error.ts";

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
  /** The largest number of calls in one request. */
  readonly batchMax: number;
  /** Aborts every exchange in progress. */
  readonly signal: AbortSignal | null;
  /** Awaited before every request; throws ProviderError if none may be sent. */
  readonly beforeRequest: (() => Promise<void>) | null;
}

export interface Call<T> {
  readonly method: string;
  readonly params: readonly unknown[];
  /** Reads the result; throws MalformedAnswer. */
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
   * Makes several calls, in requests of at most `batchMax`. Each call has its own outcome; if a whole request fails,
   * `batch` throws.
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
    for (let start = 0; start < calls.length; start += endpoint.batchMax) {
      const part = calls.slice(start, start + endpoint.batchMax);
      const requests = part.map(({ method, params }) => {
        lastId += 1;
        return { jsonrpc: "2.0", id: lastId, method, params } as const;
      });
      const answers = await send(endpoint, target, requests, note);
      for (const [place, call] of part.entries()) {
        const answer = answers.get(requests[place]?.id ?? 0);
        if (answer !== undefined) outcomes.push(outcome(target, call, answer));
        else outcomes.push({ ok: false, error: malformed(target, "a call has no response") });
      }
    }
    return outcomes;
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

/** Returns the answers by id. Throws if the response as a whole is an error, or matches none of these calls. */
async function send(
  endpoint: Endpoint,
  target: Target,
  requests: readonly Request[],
  note: (part: "response") => void,
): Promise<Map<number, Answer>> {
  const [only] = requests;
  const isAboutLogs = requests.some(({ method }) => method === "eth_getLogs");
  const body = JSON.stringify(requests.length === 1 ? only : requests);
  const { answer, text } = await exchange(endpoint, target, { body, isAboutLogs });
  const { status } = answer;
  const parsed = parseJson(text);
  const error = wholeError(parsed);
  if (status !== 200 || (error !== null && !isAnswerTo(parsed, requests))) {
    const stated = error ?? { code: null, message: "" };
    throw refusal(target, stated, { status, isAboutLogs }, retryAfter(answer));
  }
  if (parsed === undefined) throw malformed(target, "the response is not JSON");
  try {
    return readAnswers(parsed, requests, note);
  } catch (cause) {
    throw ofProvider(target, cause);
  }
}

function outcome<T>(target: Target, call: Call<T>, answer: Answer): RpcResult<T> {
  if ("error" in answer) {
    const request = { status: 200, isAboutLogs: call.method === "eth_getLogs" };
    return { ok: false, error: refusal(target, answer.error, request, null) };
  }
  try {
    return { ok: true, value: call.read(answer.result) };
  } catch (cause) {
    const error = ofProvider(target, cause);
    if (error instanceof ProviderError) return { ok: false, error };
    throw error;
  }
}

/** Returns the error that the provider stated. */
function refusal(
  target: Target,
  error: StatedError,
  request: { status: number; isAboutLogs: boolean },
  retryAfterMs: number | null,
): ProviderError {
  const kind = faultOf({ ...error, ...request });
  const code =
    error.code === null ? `HTTP ${String(request.status)}` : `code ${String(error.code)}`;
  const said = target.masked(error.message).slice(0, errorTextLengthMax);
  const message = said === "" ? code : `${said} (${code})`;
  return new ProviderError(message, { kind, provider: target.provider, retryAfterMs });
}

function malformed({ provider }: Target, message: string): ProviderError {
  return new ProviderError(message, { kind: "malformed", provider });
}

/** Names the provider of a malformed answer; returns other errors as they are. */
function ofProvider({ provider }: Target, error: unknown): unknown {
  if (!(error instanceof MalformedAnswer)) return error;
  return new ProviderError(error.message, { kind: error.kind, provider });
}

interface Request {
  readonly jsonrpc: "2.0";
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

type Answer = { readonly result: unknown } | { readonly error: StatedError };

interface Exchange {
  readonly answer: FetchAnswer;
  readonly text: string;
}

/** Sends one request and reads its whole response. Throws ProviderError if no response arrives. */
async function exchange(
  endpoint: Endpoint,
  target: Target,
  request: { readonly body: string; readonly isAboutLogs: boolean },
): Promise<Exchange> {
  const { provider } = target;
  const fail = (kind: ProviderFault, message: string) =>
    new ProviderError(message, { kind, provider });
  await endpoint.beforeRequest?.();
  const abort = new AbortController();
  const stop = () => {
    abort.abort();
  };
  const timer = setTimeout(stop, endpoint.timeoutMs);
  endpoint.signal?.addEventListener("abort", stop, { once: true });
  try {
    if (endpoint.signal?.aborted === true) stop();
    const answer = await endpoint.fetch(target.url, {
      method: "POST",
      headers: target.headers,
      body: request.body,
      redirect: "manual",
      signal: abort.signal,
    });
    return { answer, text: await readText(answer, endpoint.responseBytesMax) };
  } catch (error) {
    if (error instanceof TooLarge) {
      const limit = String(endpoint.responseBytesMax);
      const kind = request.isAboutLogs ? "range_too_large" : "malformed";
      throw fail(kind, `the response is longer than ${limit} bytes`);
    }
    if (endpoint.signal?.aborted === true) throw fail("unreachable", "Till is stopping");
    if (abort.signal.aborted) {
      throw fail("unreachable", `no response within ${String(endpoint.timeoutMs)} ms`);
    }
    throw fail("unreachable", `no response (${networkCode(error)})`);
  } finally {
    clearTimeout(timer);
    endpoint.signal?.removeEventListener("abort", stop);
  }
}

/**
 * Returns the answers to the requests, in any order. An answer that belongs to no request, or cannot be read, is counted
 * and spoils no other one; throws if none remains.
 */
function readAnswers(
  parsed: unknown,
  requests: readonly Request[],
  note: (part: "response") => void,
): Map<number, Answer> {
  const entries: readonly unknown[] = requests.length > 1 ? asList(parsed) : [parsed];
  const ids = new Set(requests.map(({ id }) => id));
  const answers = new Map<number, Answer>();
  let fault = new MalformedAnswer("a call has no response");
  for (const entry of entries) {
    try {
      const [id, answer] = readEntry(entry, ids);
      answers.set(id, answer);
    } catch (error) {
      if (!(error instanceof MalformedAnswer)) throw error;
      note("response");
      fault = error;
    }
  }
  if (answers.size === 0) throw fault;
  return answers;
}

function readEntry(entry: unknown, ids: Set<number>): readonly [number, Answer] {
  const fields = readObject(entry, "a response");
  const { id, error, result } = fields;
  if (fields["jsonrpc"] !== "2.0") throw new MalformedAnswer("the response is not JSON-RPC 2.0");
  if (typeof id !== "number" || !ids.delete(id)) {
    throw new MalformedAnswer("the response has an id that was not requested");
  }
  if (error !== undefined && error !== null) return [id, { error: readError(error) }];
  if (result !== undefined) return [id, { result }];
  throw new MalformedAnswer("the response has neither a result nor an error");
}

function asList(parsed: unknown): readonly unknown[] {
  if (!Array.isArray(parsed)) throw new MalformedAnswer("the response to a batch is not a list");
  return parsed;
}

/** True for the answer, by id, to the one call that was sent. */
function isAnswerTo(parsed: unknown, requests: readonly Request[]): boolean {
  const { id, jsonrpc } = readObject(parsed, "a response");
  return requests.length === 1 && jsonrpc === "2.0" && id === requests[0]?.id;
}

class TooLarge extends Error {}

async function readText(answer: FetchAnswer, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of answer.body ?? []) {
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
