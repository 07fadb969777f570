import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import Koa from "koa";
import { sendEvents } from "../../src/http/page.ts";
import type { RequestState } from "../../src/http/pipeline/exchange.ts";
import { until } from "../support/until.ts";

describe("a stream of events", () => {
  it("is stopped when its connection closes, and does not begin on one that is closed", async () => {
    const counts = { answered: 0, begun: 0, stopped: 0 };
    const koa = new Koa<RequestState>();
    koa.use(async (ctx) => {
      if (ctx.path === "/late") await once(ctx.res, "close");
      sendEvents(ctx, () => {
        counts.begun += 1;
        return () => (counts.stopped += 1);
      });
      counts.answered += 1;
    });
    const handle = koa.callback();
    const server = createServer((request, response) => void handle(request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    try {
      const open = new AbortController();
      await fetch(`${url}/`, { signal: open.signal });
      expect(counts).to.deep.equal({ answered: 1, begun: 1, stopped: 0 });
      open.abort();
      await until(
        "the end",
        () => Promise.resolve(counts.stopped),
        (stopped) => stopped === 1,
      );

      const lost = new AbortController();
      const asking = fetch(`${url}/late`, { signal: lost.signal }).catch(() => null);
      setTimeout(() => {
        lost.abort();
      }, 50);
      await asking;
      await until(
        "the answer",
        () => Promise.resolve(counts.answered),
        (answered) => answered === 2,
      );
      expect(counts).to.deep.equal({ answered: 2, begun: 1, stopped: 1 });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
