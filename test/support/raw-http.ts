import { connect } from "node:net";
import { patienceMs } from "./until.ts";

/** A raw response, with repeated headers joined by commas. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

export interface RawRequest {
  readonly method?: string;
  readonly target: string;
  /** Sent in this order, including repeated ones. `Host` and `Connection: close` are added unless given. */
  readonly headers?: readonly (readonly [string, string])[];
  /** Sent unchanged; the caller also sets its length or encoding. */
  readonly body?: string | Uint8Array;
}

/** Sends a request that ordinary clients cannot send, and reads until the server closes the connection. */
export async function rawExchange(url: string, request: RawRequest): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const given = new Set(request.headers?.map(([name]) => name.toLowerCase()));
  const headers = [
    ...(given.has("host") ? [] : [["Host", `${hostname}:${port}`] as const]),
    ...(given.has("connection") ? [] : [["Connection", "close"] as const]),
    ...(request.headers ?? []),
  ];
  const head = [
    `${request.method ?? "GET"} ${request.target} HTTP/1.1`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  const text = `${head.join("\r\n")}\r\n\r\n`;
  const answer = await talk(hostname, Number(port), [
    Buffer.from(text, "latin1"),
    Buffer.from(request.body ?? ""),
  ]);
  return parseAnswer(answer.toString("utf8"));
}

/** Writes all parts and returns what was received until the peer closed the connection. */
async function talk(hostname: string, port: number, parts: readonly Uint8Array[]): Promise<Buffer> {
  const socket = connect(port, hostname);
  const received: Buffer[] = [];
  const timer = setTimeout(() => {
    socket.destroy(new Error("the server did not end the connection in time"));
  }, patienceMs);
  try {
    return await new Promise<Buffer>((resolve, reject) => {
      socket.on("data", (part) => received.push(part));
      socket.on("end", () => {
        resolve(Buffer.concat(received));
      });
      socket.on("error", (error) => {
        // A server that refuses a large body may close the connection while it is still being sent.
        if (received.length > 0) resolve(Buffer.concat(received));
        else reject(error);
      });
      for (const part of parts) socket.write(part);
    });
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

function parseAnswer(text: string): RawAnswer {
  const end = text.indexOf("\r\n\r\n");
  const [first = "", ...lines] = text.slice(0, end === -1 ? undefined : end).split("\r\n");
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const earlier = headers.get(name);
    headers.set(name, earlier === undefined ? value : `${earlier}, ${value}`);
  }
  return {
    status: Number(first.split(" ")[1] ?? "0"),
    headers,
    body: end === -1 ? "" : text.slice(end + 4),
  };
}
