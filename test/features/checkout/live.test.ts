import { expect } from "chai";
import {
  createLiveStreams,
  streamLimits,
  type LiveStreams,
} from "../../../src/features/checkout/live.ts";
import type { EventSink } from "../../../src/api/event-stream.ts";
import { checkoutId, openLab, type Lab } from "./lab.ts";
import { scenes } from "./scenes.ts";

/** Reads the events of an open response until one matches. */
function reading(answer: Response): {
  next(): Promise<{ event: string; data: string } | null>;
  stop(): Promise<void>;
} {
  const reader = answer.body?.getReader();
  if (reader === undefined) throw new Error("the response has no body");
  const decoder = new TextDecoder();
  let text = "";
  return {
    async next() {
      for (;;) {
        const match = /event: (\w+)\ndata: (\w*)\n\n/.exec(text);
        if (match !== null) {
          text = text.slice(match.index + match[0].length);
          return { event: match[1] ?? "", data: match[2] ?? "" };
        }
        const part = (await reader.read()) as { done: boolean; value?: Uint8Array };
        if (part.done) return null;
        text += decoder.decode(part.value);
      }
    },
    stop: () => reader.cancel(),
  };
}

describe("the stream of a checkout", () => {
  let lab: Lab;
  afterEach(() => lab.close());

  const path = `/pay/${checkoutId}/events`;

  it("says which version is current: on connection, and after each change", async () => {
    lab = await openLab("tron");
    const answer = await lab.get(path, { "Accept-Encoding": "gzip, br" });
    expect(answer.status).to.equal(200);
    expect(answer.headers.get("content-type")).to.equal("text/event-stream; charset=utf-8");
    expect(answer.headers.get("x-accel-buffering")).to.equal("no");
    expect(answer.headers.get("cache-control")).to.equal("no-store, no-transform");
    expect(answer.headers.get("content-encoding")).to.equal(null);
    const events = reading(answer);
    const first = await events.next();
    expect(first?.event).to.equal("session");
    const shown = async () =>
      /data-version="(\w+)"/.exec(await (await fetch(lab.page)).text())?.[1];
    expect(first?.data).to.equal(await shown());
    scenes.find(({ name }) => name === "paid")?.set(lab, "tron");
    lab.change({});
    const second = await events.next();
    expect(second?.data).not.to.equal(first?.data);
    expect(second?.data).to.equal(await shown());
    await events.stop();
  });

  it("says nothing while blocks pass in which nothing happens", async () => {
    lab = await openLab("tron");
    const events = reading(await lab.get(path));
    await events.next();
    const { looks } = lab.world;
    const state = lab.world.networkState;
    lab.world.at += 2_000;
    lab.world.networkState = state && { ...state, tipTime: lab.world.at, tipHeight: 1_001 };
    while (lab.world.looks === looks) await new Promise((resolve) => setTimeout(resolve, 20));
    lab.change({ status: "canceled" });
    const next = await events.next();
    expect(next?.data).to.equal(
      /data-version="(\w+)"/.exec(await (await fetch(lab.page)).text())?.[1],
    );
    await events.stop();
  });

  it("ends when the server stops, and when the page leaves", async () => {
    lab = await openLab("tron");
    const leaving = reading(await lab.get(path));
    const staying = reading(await lab.get(path));
    await Promise.all([leaving.next(), staying.next()]);
    await leaving.stop();
    await lab.close();
    expect(await staying.next()).to.equal(null);
    lab = await openLab("tron");
  });

  it("is refused when as many pages as are allowed have the checkout open", async () => {
    lab = await openLab("tron");
    const open = await Promise.all(
      Array.from({ length: streamLimits.perCheckout }, () => lab.get(path)),
    );
    expect(new Set(open.map(({ status }) => status))).to.deep.equal(new Set([200]));
    const refused = await lab.get(path);
    expect(refused.status).to.equal(429);
    expect(refused.headers.get("retry-after")).to.match(/^\d+$/);
    for (const answer of open) await answer.body?.cancel();
  });

  it("does not exist for an unknown checkout", async () => {
    lab = await openLab("tron");
    lab.world.invoice = null;
    expect((await lab.get(path)).status).to.equal(404);
    expect((await lab.get("/pay/chk_x/events")).status).to.equal(404);
  });
});

describe("the open pages", () => {
  const session = (id: string) => ({ id }) as never;
  const aSink = (): EventSink => ({ send: () => undefined, end: () => undefined });
  const limits = { perCheckout: 2, perAddress: 3, total: 4 };
  const make = (): LiveStreams =>
    createLiveStreams({ read: (id) => Promise.resolve(session(id)), limits });

  it("are limited per checkout, per address and in total, and make room when they close", () => {
    const live = make();
    const open = (id: string, address: string) => {
      live.requireRoom(id, address);
      return live.watch(session(id), address, aSink());
    };
    const close = open("a", "1");
    open("a", "1");
    expect(() => open("a", "2"))
      .to.throw()
      .with.property("status", 429);
    open("b", "1");
    expect(() => open("c", "1"))
      .to.throw()
      .with.property("status", 429);
    open("c", "2");
    expect(() => open("d", "3"))
      .to.throw()
      .with.property("status", 429);
    close();
    close();
    open("d", "3");
    expect(live.size).to.equal(4);
    live.end();
    expect(() => open("e", "4")).to.throw();
  });

  it("end a stream whose place others have taken while it was prepared", () => {
    const live = make();
    const ended: number[] = [];
    for (let place = 0; place < 4; place += 1) live.requireRoom("a", "1");
    for (let place = 0; place < 4; place += 1) {
      live.watch(session("a"), "1", { send: () => undefined, end: () => ended.push(place) });
    }
    expect(ended).to.deep.equal([2, 3]);
    expect(live.size).to.equal(2);
    live.end();
    live.watch(session("b"), "2", { send: () => undefined, end: () => ended.push(4) });
    expect([ended.at(-1), live.size]).to.deep.equal([4, 2]);
  });
});
