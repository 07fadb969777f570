import type { ServerResponse } from "node:http";
import type { Exchange } from "./pipeline/exchange.ts";

/** Bytes that may wait for a slow client. It is disconnected above, and reconnects when it can. */
const waitingBytesMax = 64 * 1_024;
/** After a lost connection, browsers reconnect after this time, in milliseconds. */
const reconnectMs = 2_000;

/** One client's stream of server-sent events (HTML standard, 9.2). */
export interface EventSink {
  /** Sends an event. Name and data are one line each. */
  send(event: string, data: string): void;
  /** Ends the stream; the browser reconnects. */
  end(): void;
}

/** Starts to send events to a client. Returns the function that stops it; called once, when the connection has closed. */
export type Subscribe = (sink: EventSink) => () => void;

/** Answers with a stream of events that stays open. */
export function sendEvents(ctx: Exchange, subscribe: Subscribe): void {
  ctx.status = 200;
  ctx.set("Content-Type", "text/event-stream; charset=utf-8");
  // Proxies must neither compress the stream nor collect it: nginx reads X-Accel-Buffering.
  ctx.set("Cache-Control", "no-store, no-transform");
  ctx.set("X-Accel-Buffering", "no");
  if (ctx.method === "HEAD") {
    ctx.body = "";
    return;
  }
  ctx.respond = false;
  const { res } = ctx;
  // A connection that was lost before this has had its close event: nothing would stop the stream.
  if (res.destroyed || res.closed) return;
  res.statusCode = 200;
  res.flushHeaders();
  res.write(`retry: ${String(reconnectMs)}\n\n`);
  res.once("close", subscribe(sinkOf(res)));
}

function sinkOf(res: ServerResponse): EventSink {
  return {
    send(event, data) {
      if (res.writableEnded || res.destroyed) return;
      res.write(`event: ${event}\ndata: ${data}\n\n`);
      if (res.writableLength > waitingBytesMax) res.destroy();
    },
    end() {
      res.end();
    },
  };
}
