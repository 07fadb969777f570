import { Server as TcpServer, type AddressInfo } from "node:net";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { Program } from "../compose/app.ts";
import { liveStreamsOf } from "../features/checkout/live.ts";
import { within } from "../kernel/clock.ts";
import { defineProblem } from "../kernel/errors.ts";
import { createHttpServer } from "../server.ts";

const CannotListen = defineProblem({
  code: "cannot_listen",
  status: 409,
  title: "The server cannot listen",
});
const MayNotListen = defineProblem({
  code: "may_not_listen",
  status: 403,
  title: "The server may not listen",
});

/** Time limit for open requests during shutdown, in milliseconds. */
const drainMs = 10_000;
/**
 * How long an idle connection stays open during shutdown, in milliseconds: a client may have sent a request before it
 * could know.
 */
const lingerMs = 300;
const idleCheckMs = 50;
/** After this many milliseconds the process exits regardless. It tolerates being killed, so nothing is lost. */
const stopMs = 25_000;

export interface Serving {
  /** The server's URL, without a trailing slash. */
  readonly url: string;
  /** Refuses new requests, finishes the open ones and closes the store. */
  stop(): Promise<void>;
}

/** Listens on the first free port and starts the background work. When it resolves, the server answers requests. */
export async function startServing(
  app: Program,
  { host, ports }: { readonly host: string; readonly ports: readonly number[] },
): Promise<Serving> {
  const server = await listen(app, host, ports);
  const url = urlOf(host, (server.address() as AddressInfo).port);
  app.listensAt(url);
  await app.start();
  return {
    url,
    async stop() {
      app.stopsSoon();
      closeAfterResponses(server);
      // In parallel, so that their durations do not add up.
      await Promise.all([drain(server, app), app.background.stop()]);
      await app.close();
    },
  };
}

async function listen(app: Program, host: string, ports: readonly number[]): Promise<Server> {
  const [port = 0, ...others] = ports;
  const server = createHttpServer(app);
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen(port, host, resolve);
    });
    return server;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE" && others.length > 0) return listen(app, host, others);
    throw refusal(error as NodeJS.ErrnoException, host, port);
  }
}

function refusal(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const address = `Port ${String(port)} on ${host}`;
  switch (error.code) {
    case "EADDRINUSE":
      return new CannotListen(
        `${address} is in use. Stop the other program, or choose another port with --port (0 picks a free one).`,
      );
    case "EACCES":
      return new MayNotListen(
        `${address} requires privileges that this user lacks. Choose a port above 1023 with --port, and let a proxy listen on the low one.`,
      );
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return new CannotListen(
        `${host} is not an address of this machine. Correct --host: 127.0.0.1 for local access only, 0.0.0.0 for all addresses of the machine.`,
      );
    default:
      return error;
  }
}

/** Returns the URL for a browser on this machine; a wildcard address becomes loopback. */
function urlOf(host: string, port: number): string {
  const reachable = { "0.0.0.0": "127.0.0.1", "::": "::1" }[host] ?? host;
  const name = reachable.includes(":") ? `[${reachable}]` : reachable;
  return `http://${name}:${String(port)}`;
}

/** Ends every connection after its next answer, which says so. */
function closeAfterResponses(server: Server): void {
  server.prependListener("request", (_request: IncomingMessage, response: ServerResponse) => {
    response.shouldKeepAlive = false;
  });
}

/** Serves for the configured delay, then lets nobody in, and resolves when the last request is answered. */
async function drain(server: Server, app: Program): Promise<void> {
  await delay(app.config.stopDelayMs);
  // They would stay open for as long as the server does.
  liveStreamsOf(app).end();
  const closed = new Promise((resolve) => {
    // The method of http.Server would end idle connections at once.
    TcpServer.prototype.close.call(server, resolve);
  });
  await within(lingerMs, closed, () => undefined);
  server.close();
  // Repeatedly, because a connection becomes idle after its last response.
  const idle = setInterval(() => {
    server.closeIdleConnections();
  }, idleCheckMs);
  await within(drainMs - lingerMs, closed, () => {
    server.closeAllConnections();
    return closed;
  });
  clearInterval(idle);
}

/** Resolves with the first SIGTERM or SIGINT. A second one exits at once. */
export function untilAskedToStop(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let isAsked = false;
    const onSignal = (signal: NodeJS.Signals) => {
      if (isAsked) process.exit(130);
      isAsked = true;
      setTimeout(() => process.exit(0), stopMs).unref();
      resolve(signal);
    };
    process.on("SIGTERM", onSignal);
    process.on("SIGINT", onSignal);
  });
}
