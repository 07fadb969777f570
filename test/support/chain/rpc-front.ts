import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Fetch } from "../../../src/platform/chain/evm/transport.ts";
import type { Anvil } from "./anvil.ts";
import { JsonRpcRefusal, type JsonRpcCall } from "./json-rpc.ts";

/**
 * Faults of a provider as its client sees them:
 * - `overloaded`: HTTP 200 with only `{"Error": …}`, not JSON-RPC, as from a java-tron node without resources
 * - `rate-limited`, `forbidden`, `unavailable`: HTTP 429 with Retry-After, 403, 503
 * - `truncated`: half of the response; `html`: a page with status 200; `wrong-id`: the response to another request
 * - `hang`: no response while the fault lasts; `disconnect`: the connection is closed instead
 */
export type ProviderFault =
  | "overloaded"
  | "rate-limited"
  | "forbidden"
  | "unavailable"
  | "truncated"
  | "html"
  | "wrong-id"
  | "hang"
  | "disconnect";

export interface RequestCounts {
  /** HTTP requests, including failed ones. */
  readonly requests: number;
  /** Calls in these requests, including failed ones. */
  readonly calls: number;
  readonly methods: Readonly<Record<string, number>>;
}

/** Changes a result before it is sent, so that the provider lies. */
export type Lie = (call: JsonRpcCall, result: unknown) => unknown;

/** A provider's endpoint, with switches for its faults. */
export interface RpcFront {
  readonly url: string;
  /**
   * Sends a request to this front. It is answered without a socket, except while a fault is due or the front is stopped.
   */
  readonly fetch: Fetch;
  /** Makes the next `times` requests fail; `Infinity`: until `heal`. Faults queue in the order of the calls. */
  fail(fault: ProviderFault, times?: number): void;
  /** Sets a function that changes every result; null: none. */
  lie(lie: Lie | null): void;
  /** Ends all faults, and closes hanging connections. */
  heal(): void;
  /** Returns the counts since the start or the last `resetCounts`. */
  counts(): RequestCounts;
  resetCounts(): void;
  /** Returns the headers of the last request, with lowercase names. */
  lastHeaders(): Readonly<Record<string, string | string[] | undefined>>;
  stop(): Promise<void>;
}

export type Answer = (call: JsonRpcCall) => Promise<unknown>;

export interface RpcFrontOptions {
  /** The only path that is served; all others are 404. */
  readonly path: string;
  /** Called for each HTTP request, so that all answers of a batch show the same state of the chain. */
  readonly open: () => Answer;
  readonly batchLimit?: () => number;
  readonly requestBytesLimit?: number;
  readonly responseBytesLimit?: number;
}

interface Wire {
  readonly id: unknown;
  readonly call: JsonRpcCall | null;
}

/** A request without its body; its header names are in lowercase. */
type Asked = Pick<IncomingMessage, "method" | "url" | "headers">;

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const page =
  "<!DOCTYPE html><html><title>Bad gateway</title><body><h1>502 Bad gateway</h1></body></html>";

/** Serves JSON-RPC over HTTP on a free port of 127.0.0.1, with faults that tests control. */
export async function startRpcFront(options: RpcFrontOptions): Promise<RpcFront> {
  const faults: { fault: ProviderFault; left: number }[] = [];
  const hanging = new Set<ServerResponse>();
  let lie: Lie | null = null;
  let counts = { requests: 0, calls: 0, methods: {} as Record<string, number> };
  let lastHeaders: IncomingMessage["headers"] = {};

  function nextFault(): ProviderFault | null {
    const first = faults[0];
    if (first === undefined) return null;
    first.left -= 1;
    if (first.left <= 0) faults.shift();
    return first.fault;
  }

  function count(wires: readonly Wire[]): void {
    counts.requests += 1;
    for (const { call } of wires) {
      if (call === null) continue;
      counts.calls += 1;
      counts.methods[call.method] = (counts.methods[call.method] ?? 0) + 1;
    }
  }

  async function answerAll(body: unknown, wires: readonly Wire[]): Promise<unknown> {
    if (!Array.isArray(body)) return answerOne(options.open(), wires[0]);
    const limit = options.batchLimit?.() ?? Infinity;
    if (wires.length > limit) {
      const message = `Batch size ${String(wires.length)} exceeds the limit of ${String(limit)}`;
      return envelope(null, { error: { code: -32005, message } });
    }
    const answer = options.open();
    return Promise.all(wires.map((wire) => answerOne(answer, wire)));
  }

  async function answerOne(answer: Answer, wire: Wire | undefined): Promise<unknown> {
    if (wire?.call == null)
      return envelope(null, { error: { code: -32600, message: "Invalid Request" } });
    try {
      const result = await answer(wire.call);
      return envelope(wire.id, { result: lie === null ? result : lie(wire.call, result) });
    } catch (error) {
      return envelope(wire.id, { error: errorObject(error) });
    }
  }

  /** Answers a request, or says how it remains without an answer. A fault is taken before this waits for anything. */
  async function handle(asked: Asked, text: string): Promise<Reply | "hang" | "disconnect"> {
    lastHeaders = asked.headers;
    if (asked.url !== options.path) {
      return replyOf(404, "text/html", "<h2>HTTP ERROR 404 Not Found</h2>");
    }
    if (asked.method !== "POST") {
      return replyOf(405, "text/html", "<h2>HTTP ERROR 405 Method Not Allowed</h2>");
    }
    if (text.length > (options.requestBytesLimit ?? Infinity)) {
      return replyOf(413, "text/html", "<h2>HTTP ERROR 413 Payload Too Large</h2>");
    }
    const body = parse(text);
    if (body === undefined) {
      counts.requests += 1;
      const refusal = envelope(null, { error: { code: -32700, message: "Parse json error" } });
      return replyOf(200, "application/json", JSON.stringify(refusal));
    }
    const wires = (Array.isArray(body) ? body : [body]).map(readWire);
    count(wires);
    const fault = nextFault();
    if (fault === "hang" || fault === "disconnect") return fault;
    if (fault !== null && !speaks(fault)) return failed(fault);
    const answer = await answerAll(body, wires);
    let sent = JSON.stringify(fault === "wrong-id" ? withOtherIds(answer) : answer);
    const most = options.responseBytesLimit ?? Infinity;
    if (sent.length > most) {
      const message = `Response exceeds the limit of ${String(most)} bytes`;
      const id = Array.isArray(body) ? null : (wires[0]?.id ?? null);
      sent = JSON.stringify(envelope(id, { error: { code: -32003, message } }));
    }
    if (fault === "truncated") sent = sent.slice(0, sent.length / 2);
    return replyOf(200, "application/json; charset=utf-8", sent);
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const reply = await handle(request, await readAll(request));
    if (reply === "hang") hanging.add(response);
    else if (reply === "disconnect") response.destroy();
    else response.writeHead(reply.status, reply.headers).end(reply.body);
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => {
      response.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  function heal(): void {
    faults.length = 0;
    lie = null;
    for (const response of hanging) response.destroy();
    hanging.clear();
  }

  const fetchHere: Fetch = async (url, init) => {
    if (faults.length > 0 || !server.listening) return fetch(url, init);
    const { method, signal } = init;
    const headers = Object.fromEntries(new Headers(init.headers));
    const reply = await handle({ method, url: new URL(url).pathname, headers }, init.body);
    // Other work goes on meanwhile, as it does during a request over a socket.
    await new Promise(setImmediate);
    signal.throwIfAborted();
    if (typeof reply === "string") throw new Error(`a fault without a socket: ${reply}`);
    return new Response(reply.body, reply);
  };

  return {
    fetch: fetchHere,
    url: `http://127.0.0.1:${String(port)}${options.path}`,
    fail(fault, times = 1) {
      if (times > 0) faults.push({ fault, left: times });
    },
    lie(next) {
      lie = next;
    },
    heal,
    counts: () => ({ ...counts, methods: { ...counts.methods } }),
    resetCounts() {
      counts = { requests: 0, calls: 0, methods: {} };
    },
    lastHeaders: () => lastHeaders,
    async stop() {
      heal();
      const closed = new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      });
      server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * Starts a plain EVM provider in front of a node: like a hosted one, without the node's test methods, accounts and
 * sending.
 */
export async function startEvmFront(anvil: Anvil): Promise<RpcFront> {
  const closed = /^(?!eth_|net_|web3_)|^eth_(accounts|sign|sendTransaction|sendUnsigned)/;
  return startRpcFront({
    path: "/",
    open: () => async (call) => {
      if (closed.test(call.method)) {
        throw new JsonRpcRefusal(
          -32601,
          `the method ${call.method} does not exist/is not available`,
        );
      }
      return anvil.rpc(call.method, call.params);
    },
  });
}

function speaks(fault: ProviderFault): boolean {
  return fault === "truncated" || fault === "wrong-id";
}

function failed(fault: ProviderFault): Reply {
  const said = (text: string) => JSON.stringify({ Error: text });
  switch (fault) {
    case "overloaded": {
      const text = "class java.lang.IllegalAccessException : lack of computing resources";
      return replyOf(200, "application/json; charset=utf-8", `${said(text)}\n`);
    }
    case "rate-limited": {
      const text = "request rate exceeded the allowed_rps";
      const reply = replyOf(429, "application/json", said(text));
      return { ...reply, headers: { ...reply.headers, "retry-after": "1" } };
    }
    case "forbidden":
      return replyOf(403, "application/json", said("Exceed the user daily usage"));
    case "unavailable":
      return replyOf(503, "text/html", page);
    default:
      return replyOf(200, "text/html", page);
  }
}

function replyOf(status: number, type: string, body: string): Reply {
  const length = String(Buffer.byteLength(body));
  return { status, headers: { "content-type": type, "content-length": length }, body };
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readWire(item: unknown): Wire {
  if (typeof item !== "object" || item === null) return { id: null, call: null };
  const { id, method, params } = item as { id?: unknown; method?: unknown; params?: unknown };
  if (typeof method !== "string") return { id: id ?? null, call: null };
  return { id: id ?? null, call: { method, params: Array.isArray(params) ? params : [] } };
}

function envelope(id: unknown, outcome: object): object {
  return { jsonrpc: "2.0", id, ...outcome };
}

function withOtherIds(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(withOtherIds);
  return { ...(answer as object), id: 999_999_999 };
}

function errorObject(error: unknown): object {
  if (!(error instanceof JsonRpcRefusal)) return { code: -32603, message: "Internal error" };
  const { code, message, data } = error;
  return data === undefined ? { code, message } : { code, message, data };
}
