import type { FetchResponse } from "./transport.ts";
import type { LimitHint, ProviderFault } from "../providers/error.ts";
import { readable, readObject } from "./values.ts";

/** The error of a call, or of a whole response, as the provider states it. */
export interface StatedError {
  /** The JSON-RPC error code; null if it is missing. */
  readonly code: number | null;
  readonly message: string;
}

/** The properties of an error that determine its kind. */
interface ErrorReply extends StatedError {
  readonly status: number;
  /** True if the request was for logs: only then does a smaller range help. */
  readonly isAboutLogs: boolean;
  /** True if the provider said when to come back. */
  readonly isAskingToWait: boolean;
}

const limitExceeded = -32_005;
/** java-tron's code for a response that exceeds its size limit. */
const replyTooLong = -32_003;

/** Reads an error in whatever form: one that cannot be read is an error without a reason. */
export function readError(error: unknown): StatedError {
  if (typeof error === "string") return { code: null, message: error };
  const { code, message, data } = readable(() => readObject(error, "an error")) ?? {};
  // Some providers put the reason into `data`, and only "invalid params" here.
  const reason = typeof data === "object" && data !== null ? JSON.stringify(data) : data;
  const parts = [message, reason].filter(
    (part) => typeof part === "string" && part !== "" && part !== "{}",
  );
  return { code: typeof code === "number" ? code : null, message: parts.join(": ") };
}

/**
 * Returns the error if the whole response is one: a single JSON-RPC error with any id, or `{"Error": "…"}`, which a
 * TRON node sends with HTTP 200 when it gets too many requests. geth refuses a batch with a list of one error.
 */
export function wholeError(parsed: unknown, calls: number): StatedError | null {
  if (Array.isArray(parsed) && parsed.length === 1 && calls > 1) return wholeError(parsed[0], 1);
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return null;
  const fields = readObject(parsed, "a response");
  const overloaded = fields["Error"];
  if (typeof overloaded === "string") return { code: limitExceeded, message: overloaded };
  const { error } = fields;
  if (typeof error !== "string" && (typeof error !== "object" || error === null)) return null;
  return readError(error);
}

const overloadedText =
  /too many requests|rate.?limit|frequency limit|request limit|per second|capacity|quota|credits|throttl|computing resources|daily/i;
const outOfReachText = /beyond current head|invalid block range|unknown block|header not found/i;
const rangeText =
  /range|too (?:large|many|wide|big)|more than \d+ (?:results|logs)|response size|time(?:d )?-?out|limit exceeded|max(?:imum)? results/i;
// "Consider batching" is advice about too many requests.
const namesCalls = /\bbatch(?!ing)/i;
const namesBlocks = /range|\bblocks?\b|too wide|results|\blogs\b/i;
const namesFilter = /address|topic|filter|criteria/i;

/** The kind of an error, and the limit to which it points. */
interface Meaning {
  readonly kind: ProviderFault;
  readonly hint: LimitHint;
}

/** The meanings of errors by their status and code, or else by the words that providers use; the first one counts. */
const meanings: readonly (Meaning & { readonly fits: (error: ErrorReply) => boolean })[] = [
  { kind: "refused", hint: "calls", fits: ({ message }) => namesCalls.test(message) },
  {
    kind: "rate_limited",
    hint: "wait",
    fits: ({ status, message }) => status === 429 || overloadedText.test(message),
  },
  // The node that responded is behind the one that reported the block.
  { kind: "unreachable", hint: "none", fits: ({ message }) => outOfReachText.test(message) },
  {
    kind: "range_too_large",
    hint: "blocks",
    fits: (error) => isTooLarge(error) && namesBlocks.test(error.message),
  },
  {
    kind: "refused",
    hint: "filter",
    fits: ({ isAboutLogs, message }) => isAboutLogs && namesFilter.test(message),
  },
  { kind: "range_too_large", hint: "unsaid", fits: isTooLarge },
  { kind: "rate_limited", hint: "wait", fits: ({ code }) => code === limitExceeded },
  { kind: "unreachable", hint: "wait", fits: (error) => isAway(error) && error.isAskingToWait },
  { kind: "unreachable", hint: "unsaid", fits: isAway },
  { kind: "refused", hint: "wait", fits: ({ isAskingToWait }) => isAskingToWait },
];

/** Returns the meaning of an error. */
export function meaningOf(error: ErrorReply): Meaning {
  const { kind, hint } = meanings.find(({ fits }) => fits(error)) ?? unexplained;
  return { kind, hint };
}

const unexplained: Meaning = { kind: "refused", hint: "unsaid" };

function isTooLarge({ isAboutLogs, status, code, message }: ErrorReply): boolean {
  return isAboutLogs && (status === 413 || code === replyTooLong || rangeText.test(message));
}

function isAway({ status }: ErrorReply): boolean {
  return status >= 500 || status === 408;
}

/** TronGrid blocks a client for half a minute with HTTP 403, without a Retry-After header. */
const shutOutMs = 30_000;

/** Returns the waiting time in milliseconds from Retry-After, in seconds or as a date; null if unknown. */
export function retryAfter({ status, headers }: FetchResponse): number | null {
  return readRetryAfter(headers) ?? (status === 403 ? shutOutMs : null);
}

function readRetryAfter(headers: FetchResponse["headers"]): number | null {
  const text = headers.get("retry-after")?.trim() ?? "";
  if (/^\d{1,7}$/.test(text)) return Number(text) * 1_000;
  const [date, until] = [headers.get("date") ?? "", text].map((moment) => Date.parse(moment));
  // The date is compared with the provider's own clock.
  if (date === undefined || until === undefined || Number.isNaN(date) || Number.isNaN(until)) {
    return null;
  }
  return Math.max(0, until - date);
}
