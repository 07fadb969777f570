import { TillConnectionError, TillProblem } from "./errors.ts";
import type { Problem } from "./generated/records.ts";

/** How to reach an instance, and as whom. */
export interface TillOptions {
  /**
   * The address of the instance, such as `https://till.example`, with its path prefix if it has one. An address that
   * ends in `/v1` is that of its API, and means the same.
   */
  readonly url: string;
  /** An API key: for servers. Never ship one in a page or an app. */
  readonly apiKey?: string | undefined;
  /** A user's access token, or a function that returns the current one, called for each attempt. */
  readonly accessToken?: string | (() => string | Promise<string>) | undefined;
  /** The most attempts after the first one that failed; 4 by default, 0 for none. */
  readonly retries?: number | undefined;
  /** How long an attempt may take, in milliseconds; 30000 by default. */
  readonly timeoutMs?: number | undefined;
  /** Used instead of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Called with each answer, such as for logs, or for the `ETag` header that `ifMatch` needs. */
  readonly onAnswer?: ((answer: Answer) => void) | undefined;
}

/** An answer, for `onAnswer`. */
export interface Answer {
  readonly operationId: string;
  readonly status: number;
  readonly headers: Headers;
  /** 0 for the first attempt. */
  readonly attempt: number;
}

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call, and the wait between attempts, with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Instead of the client's. */
  readonly timeoutMs?: number | undefined;
}

/** Options of a call that creates or changes something and can be repeated safely. */
export interface WriteOptions extends CallOptions {
  /**
   * Till executes calls with the same key once. By default each call has a random key, which its retries keep. Name
   * your own, such as the id of your order, so that your program can repeat the call after a crash.
   */
  readonly idempotencyKey?: string | undefined;
}

/** Options of a call that changes an object. */
export interface ChangeOptions extends CallOptions {
  /** The ETag of the state that you have read: another state is refused with `precondition_failed`. */
  readonly ifMatch?: string | undefined;
}

/** An operation, as the document declares it. */
export interface OperationCall {
  readonly id: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly hasBody?: true;
  readonly hasQuery?: true;
  /** It has an idempotency key. */
  readonly isIdempotent?: true;
  /** The answer is a CSV file. */
  readonly isText?: true;
  /** The query parameter that takes the cursor of a list. */
  readonly cursor?: string;
}

/** Query parameters; an array is several values, separated by commas. */
type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** The parts of a request. */
export interface Parts {
  readonly path: readonly string[];
  readonly query?: Query | undefined;
  readonly body?: unknown;
  readonly options: WriteOptions & ChangeOptions;
}

export type Transport = (operation: OperationCall, parts: Parts) => Promise<unknown>;

/** Time and randomness, which tests replace. */
export interface Surroundings {
  readonly wait: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>;
  /** Returns a number from 0 to below 1. */
  readonly random: () => number;
}

export const retriesByDefault = 4;
export const timeoutByDefaultMs = 30_000;
/** The wait before a retry is random, up to this and doubled with each attempt. */
export const firstWaitMs = 500;
export const waitMaxMs = 20_000;
/** If Till asks for a longer wait, the problem is thrown at once. */
export const retryAfterMaxSeconds = 60;

/**
 * Creates the function that sends requests and retries them. Throws a TypeError if the address is not an http URL, or the
 * API key is empty.
 */
export function makeTransport(
  options: TillOptions,
  surroundings: Surroundings = { wait, random },
): Transport {
  const base = baseOf(options.url);
  if (options.apiKey?.trim() === "") {
    throw new TypeError(
      "apiKey is empty: give the secret of an API key, or leave it out. Is the environment variable set?",
    );
  }
  const retries = options.retries ?? retriesByDefault;
  const send = options.fetch ?? globalThis.fetch.bind(globalThis);

  return async (operation, parts) => {
    const { signal, timeoutMs = options.timeoutMs ?? timeoutByDefaultMs } = parts.options;
    const url = base + pathOf(operation.path, parts.path) + queryOf(parts.query);
    const headers: Record<string, string> = {
      Accept: operation.isText === true ? "text/csv" : "application/json",
    };
    if (parts.body !== undefined) headers["Content-Type"] = "application/json";
    if (parts.options.ifMatch !== undefined) headers["If-Match"] = parts.options.ifMatch;
    if (operation.isIdempotent === true) {
      headers["Idempotency-Key"] = parts.options.idempotencyKey ?? randomKey();
    }
    const body = parts.body === undefined ? null : JSON.stringify(parts.body);

    for (let attempt = 0; ; attempt += 1) {
      signal?.throwIfAborted();
      await authorize(headers, options);
      // Redirects are not followed, because the credential would be sent to the other host.
      const init = { method: operation.method, headers, body, redirect: "manual" } as const;
      const received = await exchange(send, url, init, timeoutMs, signal);
      let failure: TillProblem | TillConnectionError;
      if (received instanceof TillConnectionError) failure = received;
      else {
        const { response, text } = received;
        const { status } = response;
        options.onAnswer?.({
          operationId: operation.id,
          status,
          headers: response.headers,
          attempt,
        });
        if (response.ok && operation.isText === true) return text;
        if (response.ok) return text === "" ? undefined : parsed(text, status);
        failure = failureOf(response, text);
      }
      if (attempt >= retries || !isWorthRetrying(failure, isRepeatable(operation, parts))) {
        throw failure;
      }
      const asked = failure instanceof TillProblem ? failure.retryAfterSeconds : null;
      await surroundings.wait(waitBefore(attempt, asked, surroundings.random()), signal);
    }
  };
}

/** Makes one attempt. Throws the reason of the caller's signal; any other failure is returned. */
async function exchange(
  send: typeof globalThis.fetch,
  url: string,
  init: RequestInit,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<{ readonly response: Response; readonly text: string } | TillConnectionError> {
  const ends = AbortSignal.timeout(timeoutMs);
  const either = signal === undefined ? ends : AbortSignal.any([signal, ends]);
  try {
    const response = await send(url, { ...init, signal: either });
    return { response, text: await response.text() };
  } catch (cause) {
    signal?.throwIfAborted();
    const message = ends.aborted
      ? `Till did not answer within ${String(timeoutMs)} ms.`
      : `Till cannot be reached at ${url}.`;
    return new TillConnectionError(message, { cause });
  }
}

/** The wait before the next attempt, in milliseconds: full jitter, after the time that Till asked for. */
export function waitBefore(attempt: number, askedSeconds: number | null, random: number): number {
  const most = Math.min(waitMaxMs, firstWaitMs * 2 ** attempt);
  return (askedSeconds ?? 0) * 1_000 + Math.round(random * most);
}

/** Whether a second execution has the same effect as the first: then an attempt without an answer is repeated. */
function isRepeatable({ method, isIdempotent }: OperationCall, { options }: Parts): boolean {
  return isIdempotent === true || (method !== "POST" && options.ifMatch === undefined);
}

function isWorthRetrying(failure: TillProblem | TillConnectionError, isSafe: boolean): boolean {
  if (failure instanceof TillProblem) {
    const { status } = failure;
    if ((failure.retryAfterSeconds ?? 0) > retryAfterMaxSeconds) return false;
    // Till has not executed it.
    if (status === 429) return true;
    return isSafe && (status >= 500 || failure.code === "idempotency_key_in_flight");
  }
  const { status } = failure;
  return isSafe && (status === null || status === 429 || status >= 500);
}

function failureOf(response: Response, text: string): TillProblem | TillConnectionError {
  const type = response.headers.get("Content-Type") ?? "";
  if (type.includes("application/problem+json")) {
    const asked = Number.parseInt(response.headers.get("Retry-After") ?? "", 10);
    const problem = parsed(text, response.status) as Problem;
    return new TillProblem(problem, Number.isSafeInteger(asked) && asked >= 0 ? asked : null);
  }
  const message =
    response.status < 400
      ? "The address redirects: use the address of the instance itself."
      : `The answer ${String(response.status)} is not from Till: something between answers in its place.`;
  return new TillConnectionError(message, { status: response.status });
}

function parsed(text: string, status: number): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    const message = `The answer ${String(status)} is not JSON: is this the address of an instance?`;
    throw new TillConnectionError(message, { status, cause });
  }
}

function baseOf(address: string): string {
  // Without a scheme, "localhost:4800" is a URL of the scheme "localhost".
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) {
    throw new TypeError(
      `url must be the address of a Till, with its scheme, such as "https://till.example" or "http://127.0.0.1:4800", and is ${JSON.stringify(address)}`,
    );
  }
  const { origin, pathname } = new URL(address);
  // The address of the API, which ends in /v1, is as good as that of the instance.
  return `${origin}${pathname.replace(/\/+$/, "").replace(/\/v1$/, "")}/v1`;
}

async function authorize(headers: Record<string, string>, options: TillOptions): Promise<void> {
  const { apiKey, accessToken } = options;
  if (apiKey !== undefined) headers["X-Service-Key"] = apiKey;
  if (accessToken === undefined) return;
  const token = typeof accessToken === "string" ? accessToken : await accessToken();
  headers["Authorization"] = `Bearer ${token}`;
}

function pathOf(pattern: string, values: readonly string[]): string {
  let index = 0;
  return pattern.replace(/\{(\w+)\}/g, (_whole, name: string) => {
    const value: unknown = values[index];
    index += 1;
    // URLs resolve dots, so that these would address another operation.
    if (typeof value !== "string" || /^\.{0,2}$/.test(value)) {
      throw new TypeError(`${name} must be an id, and is ${JSON.stringify(value)}`);
    }
    return encodeURIComponent(value);
  });
}

function queryOf(query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  return parameters.size === 0 ? "" : `?${parameters.toString()}`;
}

function randomKey(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function random(): number {
  const [drawn = 0] = globalThis.crypto.getRandomValues(new Uint32Array(1));
  return drawn / 2 ** 32;
}

function wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
