import { expect } from "chai";
import {
  createLiveStreams,
  streamLimits,
  type LiveStreams,
} from "../../../src/features/checkout/live.ts";
import type { EventSink } from "../../../src/http/page.ts";
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
    expect(refused.headers.get("retry-after")).to.equal("60");
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
  const versionIn = (id: string) => `version of ${id}`;
  const shown = (id: string) => ({ id, version: versionIn(id) });
  const aSink = (): EventSink => ({ send: () => undefined, end: () => undefined });
  const limits = { perCheckout: 2, perAddress: 3, total: 4 };
  const make = (): LiveStreams =>
    createLiveStreams({ read: (id) => Promise.resolve(versionIn(id)), limits });

  it("are limited per checkout, per address and in total, and make room when they close", () => {
    const live = make();
    const open = (id: string, address: string) => {
      live.requireRoom(id, address);
      return live.watch(shown(id), address, aSink());
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

  it("make room for another of the same address when one of them closes", () => {
    const live = createLiveStreams({
      read: (id) => Promise.resolve(versionIn(id)),
      limits: { perCheckout: 9, perAddress: 2, total: 9 },
    });
    const isRefused = () => {
      try {
        live.requireRoom("a", "1");
        return false;
      } catch {
        return true;
      }
    };
    const open = () => {
      expect(isRefused()).to.equal(false);
      return live.watch(shown("a"), "1", aSink());
    };
    for (let time = 0; time < 2; time += 1) {
      const [first, second] = [open(), open()];
      expect(isRefused()).to.equal(true);
      first();
      const third = open();
      expect(isRefused()).to.equal(true);
      for (const close of [second, third]) close();
      expect(live.size).to.equal(0);
    }
  });

  describe("over time", () => {
    const { setInterval, clearInterval, setTimeout } = globalThis;
    const now = performance.now.bind(performance);
    /** The intervals that run, and the pauses that were begun, in milliseconds, with what each calls. */
    const intervals = new Map<object, readonly [number, () => void]>();
    const pauses: (readonly [number, () => void])[] = [];
    let time = 0;

    beforeEach(() => {
      intervals.clear();
      pauses.length = 0;
      time = 1_000_000;
      Object.assign(globalThis, {
        setInterval(call: () => void, everyMs: number) {
          const timer = { unref: () => timer };
          intervals.set(timer, [everyMs, call]);
          return timer;
        },
        clearInterval: (timer: object) => intervals.delete(timer),
        setTimeout(call: () => void, ms: number) {
          pauses.push([ms, call]);
          return { unref: () => undefined };
        },
      });
      performance.now = () => time;
    });
    afterEach(() => {
      Object.assign(globalThis, { setInterval, clearInterval, setTimeout });
      performance.now = now;
    });

    const lengths = () => [...intervals.values()].map(([everyMs]) => everyMs);
    const tick = (everyMs: number) => {
      for (const [ms, call] of intervals.values()) if (ms === everyMs) call();
    };
    /** Lets promises settle. */
    const settle = async () => {
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    };
    const listener = () => {
      const sent: string[] = [];
      const sink: EventSink = {
        send: (event, data) => sent.push(`${event} ${data}`),
        end: () => sent.push("end"),
      };
      return { sent, sink };
    };

    it("get a sign of life every 15 seconds, and are compared twice a second, while one is open", async () => {
      const live = make();
      expect(lengths()).to.deep.equal([]);
      const [one, other] = [listener(), listener()];
      const close = live.watch(shown("a"), "1", one.sink);
      const closeOther = live.watch(shown("a"), "2", other.sink);
      expect(lengths()).to.deep.equal([500, 15_000]);
      tick(15_000);
      const version = versionIn("a");
      for (const { sent } of [one, other])
        expect(sent).to.deep.equal([`session ${version}`, "beat "]);
      close();
      tick(15_000);
      expect(one.sent).to.have.length(2);
      expect(other.sent).to.have.length(3);
      closeOther();
      closeOther();
      expect(lengths()).to.deep.equal([]);
      live.watch(shown("b"), "1", one.sink);
      expect(lengths()).to.deep.equal([500, 15_000]);
      live.end();
      expect(lengths()).to.deep.equal([]);
      expect(one.sent.at(-1)).to.equal("end");
      await settle();
    });

    it("get the version of a session that has changed, once, and none while it cannot be read", async () => {
      let version = "1";
      let fault: Error | null = null;
      const live = createLiveStreams({
        read: () => (fault === null ? Promise.resolve(version) : Promise.reject(fault)),
        limits,
      });
      const { sent, sink } = listener();
      const close = live.watch({ id: "a", version }, "1", sink);
      const look = async () => {
        live.compare();
        await settle();
        pauses.pop()?.[1]();
      };
      await look();
      fault = new Error("the store is down");
      await look();
      fault = null;
      version = "2";
      await look();
      await look();
      expect(sent).to.deep.equal(["session 1", "session 2"]);
      // A page that opens later learns the newest version.
      const later = listener();
      const closeLater = live.watch({ id: "a", version: "1" }, "1", later.sink);
      expect(later.sent).to.deep.equal(["session 2"]);
      // Nothing is known of a session that no page shows any more.
      close();
      closeLater();
      live.watch({ id: "a", version: "3" }, "1", later.sink);
      expect(later.sent.at(-1)).to.equal("session 3");
    });

    it("are compared once more after a pause of four times the comparison, if it was asked for meanwhile", async () => {
      let reads = 0;
      let takesMs = 0;
      const live = createLiveStreams({
        read(id) {
          reads += 1;
          time += takesMs;
          return Promise.resolve(versionIn(id));
        },
        limits,
      });
      live.watch(shown("a"), "1", aSink());
      for (const [lengthMs, pauseMs] of [
        [0, 20],
        [4, 20],
        [30, 120],
        [124, 496],
        [300, 500],
      ] as const) {
        takesMs = lengthMs;
        reads = 0;
        live.compare();
        await settle();
        expect(reads).to.equal(1);
        // During the pause, any number of times is one.
        for (let again = 0; again < 3; again += 1) live.compare();
        await settle();
        expect(reads).to.equal(1);
        const [[ms, end] = [0, () => undefined], ...others] = pauses.splice(0);
        expect([ms, others.length]).to.deep.equal([pauseMs, 0]);
        end();
        await settle();
        expect(reads, "once more").to.equal(2);
        for (const [, over] of pauses.splice(0)) over();
        await settle();
        expect(reads, "and no more").to.equal(2);
        expect(pauses).to.have.length(0);
      }
    });
  });

  it("end a stream whose place others have taken while it was prepared", () => {
    const live = make();
    const ended: number[] = [];
    for (let place = 0; place < 4; place += 1) live.requireRoom("a", "1");
    for (let place = 0; place < 4; place += 1) {
      live.watch(shown("a"), "1", { send: () => undefined, end: () => ended.push(place) });
    }
    expect(ended).to.deep.equal([2, 3]);
    expect(live.size).to.equal(2);
    live.end();
    live.watch(shown("b"), "2", { send: () => undefined, end: () => ended.push(4) });
    expect([ended.at(-1), live.size]).to.deep.equal([4, 2]);
  });
});
