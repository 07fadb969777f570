import type { AddressInfo } from "node:net";
import type { Server } from "node:http";
import type { App } from "../compose/index.ts";
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

/** How long requests that were begun may take to end. */
const drainMs = 10_000;
const idleCheckMs = 50;
/** After so long the program ends whatever is left: it survives a kill, so nothing is lost. */
const stopMs = 25_000;

export interface Serving {
  /** Where it answers, without a slash at its end. */
  readonly url: string;
  /** Takes nothing new, ends what was begun, and lets the store go. */
  stop(): Promise<void>;
}

/** Listens on the first of the ports that is free, then begins the background work. When it returns, requests are answered. */
export async function startServing(
  app: App,
  { host, ports }: { readonly host: string; readonly ports: readonly number[] },
): Promise<Serving> {
  const server = await listen(app, host, ports);
  const url = urlOf(host, (server.address() as AddressInfo).port);
  app.listensAt(url);
  await app.start();
  return {
    url,
    async stop() {
      // Both at once: how long they take does not add up.
      await Promise.all([drain(server), app.background.stop()]);
      await app.close();
    },
  };
}

async function listen(app: App, host: string, ports: readonly number[]): Promise<Server> {
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
  const place = `Port ${String(port)} of ${host}`;
  switch (error.code) {
    case "EADDRINUSE":
      return new CannotListen(
        `${place} is taken. Stop the program that has it, or choose another with --port; 0 takes a free one.`,
      );
    case "EACCES":
      return new MayNotListen(
        `${place} is not for this user. Choose one above 1023 with --port, and let a proxy have the low one.`,
      );
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return new CannotListen(
        `${host} is no address of this machine. Correct --host: 127.0.0.1 for this machine alone, 0.0.0.0 for all of its addresses.`,
      );
    default:
      return error;
  }
}

/** What a browser on this machine would be given: no address means all of them. */
function urlOf(host: string, port: number): string {
  const reachable = { "0.0.0.0": "127.0.0.1", "::": "::1" }[host] ?? host;
  const name = reachable.includes(":") ? `[${reachable}]` : reachable;
  return `http://${name}:${String(port)}`;
}

async function drain(server: Server): Promise<void> {
  // Connections without a request are closed again and again: one may become idle after its last answer.
  const idle = setInterval(() => {
    server.closeIdleConnections();
  }, idleCheckMs);
  const late = setTimeout(() => {
    server.closeAllConnections();
  }, drainMs);
  await new Promise((resolve) => {
    server.close(resolve);
    server.closeIdleConnections();
  });
  clearInterval(idle);
  clearTimeout(late);
}

/** Resolves with the first signal to end. A second one ends the program at once. */
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
