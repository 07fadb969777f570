import type { Fetch, FetchAnswer } from "./fetch.ts";
import { faultOf, readError, retryAfter, wholeError, type StatedError } from "./json-rpc-errors.ts";
import { MalformedAnswer, readObject } from "./json-rpc-values.ts";
import { ProviderError, type ProviderFault } from "./provider-error.ts";

export interface Endpoint {
  readonly url: string;
  /** Which of several of one origin it is, from 1. */
  readonly member: number;
  /** Sent with every request; their values are secrets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: Fetch;
  /** For the whole exchange, the answer's last byte included. */
  readonly timeoutMs: number;
  readonly responseBytesMax: number;
  /** How many calls one request may hold. */
  readonly batchMax: number;
  /** Ends every exchange that is under way. */
  readonly signal: AbortSignal | null;
  /** Awaited before every request; throws ProviderError where none may be sent. */
  readonly beforeRequest: (() => Promise<void>) | null;
}

export interface Call<T> {
  readonly method: string;
  readonly params: readonly unknown[];
  /** Reads the result; throws MalformedAnswer. */
  readonly read: (result: unknown) => T;
}

export type Outcome<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: ProviderError };

export interface Transport {
  /** The provider's origin, with its number where there are several of it. */
  readonly provider: string;
  /** One call; throws ProviderError. */
  call<T>(call: Call<T>): Promise<T>;
  /**
   * Calls asked together, in requests of at most `batchMax`. Each has an outcome of its own; where a whole request
   * fails it throws.
   */
  batch<T>(calls: readonly Call<T>[]): Promise<Outcome<T>[]>;
}

const errorTextLengthMax = 200;

export function makeTransport(endpoint: Endpoint): Transport {
  const target = readTarget(endpoint);
  const { provider } = target;
  const fail = (kind: ProviderFault, message: string, retryAfterMs: number | null = null) =>
    new ProviderError(message, { kind, provider, retryAfterMs });
  let lastId = 0;

  async function exchange(body: string, isAboutLogs: boolean): Promise<Exchange> {
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
        body,
        redirect: "manual",
        signal: abort.signal,
      });
      return { answer, text: await readText(answer, endpoint.responseBytesMax) };
    } catch (error) {
      if (error instanceof TooLarge) {
        const limit = String(endpoint.responseBytesMax);
        const kind = isAboutLogs ? "range_too_large" : "malformed";
        throw fail(kind, `the answer is longer than ${limit} bytes`);
      }
      if (endpoint.signal?.aborted === true) throw fail("unreachable", "Till is stopping");
      if (abort.signal.aborted) {
        throw fail("unreachable", `no answer within ${String(endpoint.timeoutMs)} ms`);
      }
      throw fail("unreachable", `no answer (${networkCode(error)})`);
    } finally {
      clearTimeout(timer);
      endpoint.signal?.removeEventListener("abort", stop);
    }
  }

  function refusal(
    error: StatedError,
    request: { status: number; isAboutLogs: boolean },
    retryAfterMs: number | null,
  ): ProviderError {
    const kind = faultOf({ ...error, ...request });
    const code =
      error.code === null ? `HTTP ${String(request.status)}` : `code ${String(error.code)}`;
    const said = target.masked(error.message).slice(0, errorTextLengthMax);
    return fail(kind, said === "" ? code : `${said} (${code})`, retryAfterMs);
  }

  /** Answers by id; throws where the answer as a whole is an error or not one of these calls. */
  async function send(requests: readonly Request[]): Promise<Map<number, Answer>> {
    const [only] = requests;
    const isAboutLogs = requests.some(({ method }) => method === "eth_getLogs");
    const body = JSON.stringify(requests.length === 1 ? only : requests);
    const { answer, text } = await exchange(body, isAboutLogs);
    const { status } = answer;
    const parsed = parseJson(text);
    const error = wholeError(parsed);
    if (status !== 200 || (error !== null && !isAnswerTo(parsed, requests))) {
      const stated = error ?? { code: null, message: "" };
      throw refusal(stated, { status, isAboutLogs }, retryAfter(answer));
    }
    if (parsed === undefined) throw fail("malformed", "the answer is not JSON");
    try {
      return readAnswers(parsed, requests);
    } catch (cause) {
      throw malformed(cause);
    }
  }

  function malformed(error: unknown): unknown {
    return error instanceof MalformedAnswer ? fail(error.kind, error.message) : error;
  }

  function outcome<T>(call: Call<T>, answer: Answer): Outcome<T> {
    if ("error" in answer) {
      const isAboutLogs = call.method === "eth_getLogs";
      return { ok: false, error: refusal(answer.error, { status: 200, isAboutLogs }, null) };
    }
    try {
      return { ok: true, value: call.read(answer.result) };
    } catch (error) {
      const thrown = malformed(error);
      if (thrown instanceof ProviderError) return { ok: false, error: thrown };
      throw thrown;
    }
  }

  async function batch<T>(calls: readonly Call<T>[]): Promise<Outcome<T>[]> {
    const outcomes: Outcome<T>[] = [];
    for (let start = 0; start < calls.length; start += endpoint.batchMax) {
      const part = calls.slice(start, start + endpoint.batchMax);
      const requests = part.map(({ method, params }) => {
        lastId += 1;
        return { jsonrpc: "2.0", id: lastId, method, params } as const;
      });
      const answers = await send(requests);
      for (const [place, call] of part.entries()) {
        const answer = answers.get(requests[place]?.id ?? 0);
        if (answer === undefined) throw fail("malformed", "a call has no answer");
        outcomes.push(outcome(call, answer));
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
      throw first?.error ?? fail("malformed", "a call has no answer");
    },
  };
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

/** Every request answered exactly once, in any order, and nothing besides. */
function readAnswers(parsed: unknown, requests: readonly Request[]): Map<number, Answer> {
  const entries: readonly unknown[] = requests.length > 1 ? asList(parsed) : [parsed];
  const ids = new Set(requests.map(({ id }) => id));
  const answers = new Map<number, Answer>();
  for (const entry of entries) {
    const fields = readObject(entry, "an answer");
    const { id, error, result } = fields;
    if (fields["jsonrpc"] !== "2.0") throw new MalformedAnswer("the answer is not JSON-RPC 2.0");
    if (typeof id !== "number" || !ids.delete(id)) {
      throw new MalformedAnswer("the answer has an id that was not asked");
    }
    if (error !== undefined && error !== null) answers.set(id, { error: readError(error) });
    else if (result !== undefined) answers.set(id, { result });
    else throw new MalformedAnswer("the answer has neither result nor error");
  }
  if (ids.size > 0) throw new MalformedAnswer("a call has no answer");
  return answers;
}

function asList(parsed: unknown): readonly unknown[] {
  if (!Array.isArray(parsed)) throw new MalformedAnswer("the answer to a batch is not a list");
  return parsed;
}

/** Whether it is the answer to the one call that was sent, by its id. */
function isAnswerTo(parsed: unknown, requests: readonly Request[]): boolean {
  const { id, jsonrpc } = readObject(parsed, "an answer");
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

/** Undefined where the text is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Such as ECONNREFUSED. The message itself may hold the URL. */
function networkCode(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const code = (cause as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "the connection failed";
}

interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly provider: string;
  /** The text without anything of the URL or the headers that may be a key, on one line. */
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
