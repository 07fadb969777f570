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
import { receiverKey } from "./certificate.ts";

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

export interface Receiver {
  readonly port: number;
  readonly requests: Received[];
  /** The number of accepted connections. */
  readonly connections: () => number;
  readonly close: () => Promise<void>;
}

export type Respond = (request: Received, response: ServerResponse) => void;

const accept: Respond = (_request, response) => response.end("ok");

/** Starts a merchant's receiver on loopback; with a certificate it uses TLS. */
export function startReceiver(respond: Respond = accept, certificate?: string): Promise<Receiver> {
  const requests: Received[] = [];
  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const received = { method, path: url, headers, body: Buffer.concat(chunks) };
      requests.push(received);
      respond(received, response);
    });
  }
  const server =
    certificate === undefined
      ? createHttpServer(onRequest)
      : createHttpsServer({ key: receiverKey, cert: certificate }, onRequest);
  return listen(server, requests);
}

/** Starts a peer that sends raw bytes, or nothing. */
export function startPeer(onConnection: (socket: Socket) => void): Promise<Receiver> {
  return listen(createTcpServer(onConnection), []);
}

function listen(server: Server, requests: Received[]): Promise<Receiver> {
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
      resolve({
        port: (server.address() as AddressInfo).port,
        requests,
        connections: () => connections,
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
