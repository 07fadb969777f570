import {
  createServer as createHttpServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { createServer as createHttpsServer } from "node:https";
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server,
  type Socket,
} from "node:net";
import { receiverKey } from "../platform/outbound/certificate.ts";

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  /** The body as text. */
  readonly body: string;
  readonly bytes: Buffer;
}

/** A merchant's receiver of webhooks on loopback, which records its requests. */
export interface Receiver {
  readonly port: number;
  readonly url: string;
  readonly requests: Received[];
  /** The number of accepted connections. */
  readonly connections: () => number;
  /** Sets the status of further responses. */
  readonly answer: (status: number) => void;
  readonly close: () => Promise<void>;
}

export type Respond = (request: Received, response: ServerResponse) => void;

/** Starts a receiver; with a certificate it uses TLS. It accepts every request unless told otherwise. */
export function startReceiver(respond?: Respond, certificate?: string): Promise<Receiver> {
  const requests: Received[] = [];
  let status = 200;
  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const bytes = Buffer.concat(chunks);
      const received = { method, path: url, headers, body: bytes.toString("utf8"), bytes };
      requests.push(received);
      if (respond !== undefined) respond(received, response);
      else response.writeHead(status).end("ok");
    });
  }
  const server =
    certificate === undefined
      ? createHttpServer(onRequest)
      : createHttpsServer({ key: receiverKey, cert: certificate }, onRequest);
  return listen(server, requests, (next) => {
    status = next;
  });
}

/** Starts a peer that sends raw bytes, or nothing. */
export function startPeer(onConnection: (socket: Socket) => void): Promise<Receiver> {
  return listen(createTcpServer(onConnection), [], () => undefined);
}

function listen(
  server: Server,
  requests: Received[],
  answer: Receiver["answer"],
): Promise<Receiver> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on("connection", (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    // Senders close connections to hostile peers, as the tests expect.
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      resolve({
        port,
        url: `http://127.0.0.1:${String(port)}/hook`,
        requests,
        connections: () => connections,
        answer,
        close: () =>
          new Promise<void>((done) => {
            for (const socket of sockets) socket.destroy();
            server.close(() => {
              done();
            });
          }),
      });
    });
  });
}
