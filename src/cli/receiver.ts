import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { systemClock } from "../kernel/clock.ts";
import { verify } from "../platform/outbound/standard-webhooks.ts";

/** A received webhook with a valid signature. */
export interface ReceivedWebhook {
  readonly id: string;
  readonly type: string;
  /** Id of the object of the event, such as an invoice. */
  readonly objectId: string;
  /** The event as it was sent, which is JSON. */
  readonly body: string;
}

/** Options of a receiver. */
interface ReceiverOptions {
  /** The port; 0, the default, for a free one. */
  readonly port?: number;
  /** Called for each request that is refused, with the reason. */
  readonly refused?: (reason: string) => void;
}

/** A merchant's webhook receiver on the loopback interface. */
export interface Receiver {
  readonly url: string;
  readonly port: number;
  /** Sets the endpoint's secret. Until then every webhook is refused. */
  trust(secret: string): void;
  close(): Promise<void>;
}

const bytesMax = 1_024 * 1_024;

/** Starts a receiver that answers 204 to webhooks with a valid signature and 401 to others. */
export async function startReceiver(
  receive: (webhook: ReceivedWebhook) => void,
  { port = 0, refused }: ReceiverOptions = {},
): Promise<Receiver> {
  let secret: string | null = null;
  const server = createServer((request, response) => {
    void respond(request).then((status) => {
      response.writeHead(status).end();
    });
  });

  async function respond(request: IncomingMessage): Promise<number> {
    const body = await readBody(request);
    if (body === null) return 413;
    if (secret === null || !isSigned(request, body, secret)) {
      refused?.("its signature is missing, too old, or made with another secret");
      return 401;
    }
    const text = body.toString("utf8");
    const { type, data } = JSON.parse(text) as {
      type: string;
      data: { id?: unknown };
    };
    const id = String(request.headers["webhook-id"]);
    receive({ id, type, objectId: typeof data.id === "string" ? data.id : "", body: text });
    return 204;
  }

  server.listen(port, "127.0.0.1");
  // Fails if the port is in use.
  await once(server, "listening");
  const listening = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${String(listening)}/webhooks`,
    port: listening,
    trust(given) {
      secret = given;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function isSigned(request: IncomingMessage, body: Buffer, secret: string): boolean {
  const header = (name: string) => String(request.headers[name] ?? "");
  const headers = {
    "webhook-id": header("webhook-id"),
    "webhook-timestamp": header("webhook-timestamp"),
    "webhook-signature": header("webhook-signature"),
  };
  const nowSeconds = Math.floor(systemClock.now() / 1_000);
  return verify(headers, { body, secret, nowSeconds });
}

/** Reads the body; null if it is too long or incomplete. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.byteLength;
      if (bytes > bytesMax) return null;
      chunks.push(chunk);
    }
  } catch {
    return null;
  }
  return Buffer.concat(chunks);
}
