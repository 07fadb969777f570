import type { Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Clock } from "../../kernel/clock.ts";
import { InvalidRequest, type Problem } from "../../kernel/errors.ts";
import type { IdSource } from "../../kernel/id.ts";
import {
  HeadersTooLarge,
  PayloadTooLarge,
  problemDocument,
  RequestTimeout,
} from "../declare/problems.ts";

/** The parts of a socket that are used here. */
interface Connection extends Duplex {
  /** Node's internal field: the response being written. */
  readonly _httpMessage?: ServerResponse | null;
  destroySoon(): void;
}

/**
 * Responds to input that never becomes a request: text that is not HTTP, headers that are too large, requests that
 * arrive too slowly. The response has the same shape as every other problem, and the connection is closed.
 */
export function refuseBrokenRequests(
  server: Server,
  deps: { readonly ids: IdSource; readonly clock: Clock; readonly baseUrl: () => string },
): void {
  server.on("clientError", (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Connection;
    if (!socket.writable || socket._httpMessage?.headersSent === true) {
      socket.destroy(error);
      return;
    }
    const requestId = deps.ids.next("request", deps.clock.now());
    const problem = problemDocument(problemOf(error), requestId, deps.baseUrl());
    const body = JSON.stringify(problem);
    const head = [
      `HTTP/1.1 ${String(problem.status)} ${problem.title}`,
      "Content-Type: application/problem+json",
      `Content-Length: ${String(Buffer.byteLength(body))}`,
      `X-Request-Id: ${requestId}`,
      "X-Content-Type-Options: nosniff",
      "Connection: close",
    ];
    socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
    socket.destroySoon();
  });
}

function problemOf(error: NodeJS.ErrnoException): Problem {
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW":
      return new HeadersTooLarge("Send shorter headers.");
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return new PayloadTooLarge("Send chunks without extensions.");
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new RequestTimeout("Send the whole request without pauses.");
    default:
      return new InvalidRequest(
        "This is not a valid HTTP/1.1 request. Check what the client sends.",
      );
  }
}
