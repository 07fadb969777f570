import type { IncomingMessage } from "node:http";
import type { Instant } from "../../kernel/clock.ts";
import type { SenderLimits } from "./sender.ts";

/** A receiver's response, as far as it was read. */
export interface ReceiverResponse {
  readonly status: number;
  /** The fault in the HTTP of the response; null without a fault. */
  readonly oddity: string | null;
  /** The `Retry-After` header. */
  readonly retryAfter: string | undefined;
  /** The beginning of the body. */
  readonly excerpt: Uint8Array;
}

/**
 * Reads a body up to the limits and keeps its beginning, then closes the connection if there is more. Reports an error
 * if the connection breaks earlier.
 */
export function readResponse(
  response: IncomingMessage,
  limits: SenderLimits,
  done: (result: { response: ReceiverResponse } | { error: Error }) => void,
): void {
  const chunks: Uint8Array[] = [];
  let readBytes = 0;

  function responseSoFar(): ReceiverResponse {
    const excerpt = Buffer.concat(chunks).subarray(0, limits.excerptBytesMax);
    return { ...head(response), excerpt };
  }

  response.on("data", (chunk: Uint8Array) => {
    if (readBytes < limits.excerptBytesMax) chunks.push(chunk);
    readBytes += chunk.byteLength;
    if (readBytes <= limits.bodyBytesMax) return;
    done({ response: responseSoFar() });
    response.destroy();
  });
  response.on("end", () => {
    done({ response: responseSoFar() });
  });
  response.on("error", (error) => {
    done({ error });
  });
}

/** Returns a response without its body. */
export function head(response: IncomingMessage): ReceiverResponse {
  return {
    status: response.statusCode ?? 0,
    oddity: null,
    retryAfter: response.headers["retry-after"],
    excerpt: new Uint8Array(),
  };
}

/** One status line, ended by CR and LF or by LF alone. */
const statusLine = /^HTTP\/\d\.\d (\d{3})(?: [^\r\n]*)?\r?\n/;
/** An interim (1xx) response, which has no body. */
const interimResponse = /^HTTP\/\d\.\d 1\d\d[^\r\n]*\r?\n(?:[^\r\n]+\r?\n)*\r?\n/;

/**
 * Returns the status of a response whose head the parser refused, from its first bytes; null if its status line was not
 * received whole.
 */
export function statusOf(received: Uint8Array): number | null {
  let rest = Buffer.from(received).toString("latin1");
  for (
    let interim = interimResponse.exec(rest);
    interim !== null;
    interim = interimResponse.exec(rest)
  ) {
    rest = rest.slice(interim[0].length);
  }
  const status = Number(statusLine.exec(rest)?.[1] ?? 0);
  return status >= 200 ? status : null;
}

const secondsPattern = /^\d{1,9}$/;
/** The only date format that senders may still use (RFC 9110). */
const datePattern = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Parses a `Retry-After` header as milliseconds from now, 0 for a time that has passed; null if absent or malformed.
 */
export function parseRetryAfter(header: string | undefined, now: Instant): number | null {
  const text = header?.trim() ?? "";
  if (secondsPattern.test(text)) return Number(text) * 1_000;
  if (!datePattern.test(text)) return null;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

/**
 * Decodes the beginning of a body as text that every database can store: without NUL, and with a replacement character
 * for invalid UTF-8. A character that was cut is left out.
 */
export function excerptText(bytes: Uint8Array): string {
  return new TextDecoder("utf-8").decode(bytes, { stream: true }).replaceAll("\0", "");
}
