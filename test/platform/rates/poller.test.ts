// The shipped rates file, against responses in the documented format of each provider, through the real HTTP client.
import { expect } from "chai";
import { formatRate } from "../../../src/kernel/money/ratio.ts";
import { parseRates, type RatesPlan } from "../../../src/platform/rates/plan.ts";
import { createPoller } from "../../../src/platform/rates/source.ts";
import { kinds, startRateSources, type RateSources } from "../../support/rate-sources.ts";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

describe("the shipped sources of rates", () => {
  let sources: RateSources;
  let plan: RatesPlan;
  let now = Date.parse("2026-11-20T15:00:00Z");
  const clock = { now: () => now };

  beforeEach(async () => {
    now = Date.parse("2026-11-20T15:00:00Z");
    sources = await startRateSources(clock.now);
    const parsed = parseRates(await sources.file(), new Set());
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
    plan = parsed.value;
  });
  afterEach(() => sources.stop());

  const poller = (answerMs = 10_000, of = plan) =>
    createPoller({
      plan: of,
      clock,
      asking: { fetch, signal: new AbortController().signal, replyMs: answerMs },
    });
  const pairOf = (name: string) => {
    const pair = plan.pairs.find((each) => each.name === name);
    if (pair === undefined) throw new Error(`there is no ${name}`);
    return pair;
  };
  const asked = () => kinds.map((kind) => sources.asked(kind));

  it("are parsed in their documented formats for every pair, with one request to each", async () => {
    const own = poller();
    await own.poll("due");
    expect(asked()).to.deep.equal([1, 1, 1]);
    expect(sources.lastHeaders()).to.include({ accept: "application/json", "user-agent": "till" });
    for (const pair of plan.pairs) {
      const answers = own.repliesOf(pair);
      expect(answers.map(({ source }) => source)).to.deep.equal([...kinds]);
      for (const answer of answers) expect(answer, pair.name).to.have.property("rate");
    }
    const shown = (name: string) =>
      own
        .repliesOf(pairOf(name))
        .map((answer) => ("rate" in answer ? formatRate(answer.rate) : ""));
    // 1 ÷ 0.867528, 1 ÷ 156.72 and 1 ÷ 42.448
    expect(shown("EUR/USD")).to.deep.equal(Array(3).fill("1.152700546841"));
    expect(shown("JPY/USD")).to.deep.equal(Array(3).fill("0.00638080653395"));
    expect(shown("TRY/USD")).to.deep.equal(Array(3).fill("0.0235582359593"));
  });

  it("are each polled at their own interval", async () => {
    const own = poller();
    await own.poll("due");
    expect(own.isDue(now)).to.equal(false);
    now += 5 * minute;
    await own.poll("due");
    expect(asked()).to.deep.equal([2, 1, 1]);
    expect(own.nextAt(pairOf("EUR/USD"))).to.equal(now + 5 * minute);
    now += 55 * minute;
    await own.poll("due");
    expect(asked()).to.deep.equal([3, 2, 1]);
    now += hour;
    await own.poll("due");
    expect(asked()).to.deep.equal([4, 3, 2]);
    await own.poll("all");
    expect(asked()).to.deep.equal([5, 4, 3]);
  });

  it("are polled with growing delays while they fail, and not before their Retry-After", async () => {
    const own = poller();
    sources.set("coinbase", { status: 500 });
    sources.set("ecb", { status: 429, headers: { "retry-after": "900" } });
    sources.set("er-api", { status: 429 });
    await own.poll("due");
    const waits: number[] = [];
    for (let turn = 0; turn < 9; turn += 1) {
      const before = sources.asked("coinbase");
      const from = now;
      while (sources.asked("coinbase") === before) {
        now += 30 * second;
        await own.poll("due");
      }
      waits.push((now - from) / second);
    }
    expect(waits).to.deep.equal([30, 60, 120, 240, 480, 960, 1920, 3600, 3600]);
    expect(sources.asked("ecb")).to.be.lessThan(11);
    sources.set("coinbase", {});
    now += hour;
    await own.poll("due");
    expect(own.repliesOf(pairOf("EUR/USD"))[0]).to.have.property("rate");
    now += 5 * minute;
    expect(own.isDue(now)).to.equal(true);
  });

  it("report the next poll of a failing source, with Retry-After in seconds or as a date, at most a day", async () => {
    for (const [value, expected] of [
      ["900", 15 * minute],
      [new Date(now + 20 * minute).toUTCString(), 20 * minute],
      ["1", 30 * second],
      ["soon", 30 * second],
      ["99999999", 24 * hour],
    ] as const) {
      const own = poller();
      const busy = { status: 503, headers: { "retry-after": value } };
      for (const kind of ["ecb", "er-api"] as const) sources.set(kind, busy);
      await own.poll("due");
      expect(own.nextAt(pairOf("EUR/USD")), value).to.equal(now + expected);
    }
    // While most sources still answer, the next response of any may change the rate.
    sources.set("er-api", {});
    const own = poller();
    await own.poll("due");
    expect(own.nextAt(pairOf("EUR/USD"))).to.equal(now + 5 * minute);
  });

  it("fail independently: timeout, HTML, a redirect, an error in JSON, a missing currency", async () => {
    const own = poller(300);
    sources.set("coinbase", { isSilent: true });
    sources.set("ecb", { body: "<!doctype html>" });
    const error = '{"result":"error","error-type":"unsupported-code"}';
    sources.set("er-api", { body: error });
    await own.poll("due");
    const faults = () =>
      own.repliesOf(pairOf("EUR/USD")).map((answer) => ("fault" in answer ? answer.fault : "none"));
    expect(faults()).to.deep.equal([
      "no answer within 300 ms",
      "its answer is HTML",
      "its answer has nothing at /time_last_update_unix",
    ]);
    sources.set("coinbase", { status: 302, headers: { location: "http://127.0.0.1:9/" } });
    sources.set("ecb", { body: '{"base":"USD","date":"2026-11-20","rates":{"GBP":0.7633}}' });
    sources.set("er-api", { body: '{"time_last_update_unix":1700000000,"rates":{"EUR":0.9}}' });
    await own.poll("all");
    expect(faults()).to.deep.equal([
      "it answered with a redirect to http://127.0.0.1:9, which is not followed",
      "its answer has nothing at /rates/EUR",
      'its rate is dated "1700000000", too far from today',
    ]);
    // A source without one currency still serves the others.
    expect(own.repliesOf(pairOf("GBP/USD"))[1]).to.have.property("rate");
    expect(own.nextAt(pairOf("GBP/USD"))).to.equal(now + minute);
  });

  it("are due again after the clock was set back by more than a day", async () => {
    const own = poller();
    await own.poll("due");
    now -= 48 * hour;
    expect(own.isDue(now)).to.equal(true);
  });
});
