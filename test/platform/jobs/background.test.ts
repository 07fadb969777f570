import { expect } from "chai";
import { day, hour, minute, second } from "../../../src/kernel/clock.ts";
import { createBackground, makeStarted } from "../../../src/platform/jobs/background.ts";
import { everyHour, everyMinute } from "../../../src/platform/jobs/cron-line.ts";
import { silentLogger } from "../../../src/platform/logger/index.ts";
import { until } from "../../support/until.ts";

describe("the background", () => {
  const machineDate = globalThis.Date;

  afterEach(() => {
    globalThis.Date = machineDate;
  });

  /** Dates that the program has made since the clock of the machine was set. */
  let datesMade = 0;

  /** Sets the clock of the machine, for every part of the program that reads it. */
  function shiftMachine(offset: number): void {
    globalThis.Date = new Proxy(machineDate, {
      construct: (target, given: [] | [number]) => {
        datesMade += 1;
        return given.length === 0 ? new target(target.now() + offset) : new target(...given);
      },
      get: (target, name, receiver) =>
        name === "now"
          ? () => target.now() + offset
          : (Reflect.get(target, name, receiver) as unknown),
    });
  }

  for (const [title, offset] of [
    ["set back by an hour", -hour],
    ["set ahead by 40 days", 40 * day],
  ] as const) {
    it(`continues after the clock was ${title}`, async () => {
      let runs = 0;
      const worker = {
        name: "counting",
        everyMs: 1 * second,
        run: () => {
          runs += 1;
          return Promise.resolve(false);
        },
      };
      const clock = { now: () => Date.now() };
      const background = createBackground({ workers: [worker], clock, logger: silentLogger });
      background.start();
      try {
        await until(
          "a run",
          () => runs,
          (count) => count >= 1,
        );
        shiftMachine(offset);
        const before = runs;
        await until(
          "two more runs",
          () => runs,
          (count) => count > before + 1,
        );
      } finally {
        await background.stop();
      }
    });
  }

  /** Sets the clock of the machine to two seconds before the minute that is nearest to `distance` from now. */
  function jump(distance: number): void {
    const at = machineDate.now();
    shiftMachine(Math.round((at + distance) / minute) * minute - 2 * second - at);
  }

  it("starts recurring work at once after any jump of the clock or sleep of the machine, then at its times, and counts no time between", async () => {
    let runs = 0;
    const worker = {
      name: "recurring",
      lines: [everyMinute],
      run: () => {
        runs += 1;
        return Promise.resolve(false);
      },
    };
    jump(0);
    const clock = { now: () => Date.now() };
    const background = createBackground({ workers: [worker], clock, logger: silentLogger });
    background.start();
    try {
      await until(
        "the first run and that of the minute",
        () => runs,
        (count) => count >= 2,
      );
      for (const distance of [hour, -hour, day, -day, 90 * day, -90 * day]) {
        jump(distance);
        datesMade = 0;
        const before = runs;
        await until(
          `a run after a jump of ${String(distance / hour)} h, and that of the minute`,
          () => runs,
          (count) => count >= before + 2,
        );
        // Every time that node-cron counts makes dates: it would make more than a million for 90 days.
        expect(datesMade, `dates made after ${String(distance / hour)} h`).to.be.below(2_000);
      }
    } finally {
      await background.stop();
    }
  });

  it("tries recurring work again after half a minute if it failed, and not before", async () => {
    let time = 1_000_000;
    let runs = 0;
    const worker = {
      name: "recurring",
      lines: [everyHour],
      run: () => {
        runs += 1;
        return runs === 1 ? Promise.reject(new Error("no store")) : Promise.resolve(false);
      },
    };
    const clock = { now: () => time };
    const background = createBackground({ workers: [worker], clock, logger: silentLogger });
    const nextTick = async () => {
      const last = background.lastTickAt();
      time += 1;
      await until(
        "the next tick",
        () => background.lastTickAt(),
        (tick) => tick !== last,
      );
    };
    background.start();
    try {
      await new Promise((resolve) => setImmediate(resolve));
      time += 30 * second - 10;
      await nextTick();
      expect(runs).to.equal(1);
      time += 10;
      await nextTick();
      expect(runs).to.equal(2);
      time += hour;
      await nextTick();
      expect(runs).to.equal(2);
    } finally {
      await background.stop();
    }
  });

  it("looks for due work at least every second", async () => {
    const { setTimeout } = globalThis;
    const delays: unknown[] = [];
    globalThis.setTimeout = Object.assign((...words: Parameters<typeof setTimeout>) => {
      delays.push(words[1]);
      return setTimeout(...words);
    }, setTimeout);
    const clock = { now: () => Date.now() };
    const background = createBackground({ workers: [], clock, logger: silentLogger });
    try {
      background.start();
      const begun = background.lastTickAt();
      expect(delays).to.have.length(1);
      expect(delays[0]).to.be.within(0, second);
      await until(
        "the next tick",
        () => background.lastTickAt(),
        (tick) => tick !== begun,
      );
      expect(delays.filter((delay) => Number(delay) <= second)).to.have.length.at.least(2);
    } finally {
      globalThis.setTimeout = setTimeout;
      await background.stop();
    }
  });

  it("runs a worker once in its interval for any number of requests without a credential, and its ordinary runs no later", async () => {
    let time = 1_000_000;
    let runs: number[] = [];
    const worker = {
      name: "reading",
      everyMs: 10 * second,
      run: () => {
        runs.push(time);
        return Promise.resolve(false);
      },
    };
    const background = createBackground({
      workers: [worker],
      clock: { now: () => time },
      logger: silentLogger,
    });
    const settle = () => new Promise((resolve) => setImmediate(resolve));
    background.start();
    try {
      await settle();
      expect(runs).to.deep.equal([time]);
      const ordinary = time + 10 * second;
      runs = [];
      for (let request = 0; request < 600; request += 1) {
        time += 10;
        background.nudge("reading");
        await settle();
      }
      expect(runs).to.have.length(1);
      // The next ordinary run is due when it was, at a tick.
      time = ordinary;
      await until(
        "the ordinary run",
        () => runs.length,
        (count) => count === 2,
      );
    } finally {
      await background.stop();
    }
  });
});

describe("work that runs of a worker start", () => {
  function starting(batchMax: number) {
    const batches: (readonly number[])[] = [];
    const open: (() => void)[] = [];
    let rooms = 0;
    const started = makeStarted<number>({
      batchMax,
      record(results) {
        batches.push(results);
        return new Promise((resolve) => open.push(resolve));
      },
      after: () => (rooms += 1),
    });
    /** Ends the recording of the next batch. */
    const recorded = async () => {
      const [end] = await until(
        "a batch",
        () => open.splice(0, 1),
        ({ length }) => length > 0,
      );
      end?.();
    };
    return { started, batches, recorded, rooms: () => rooms };
  }

  it("is recorded in batches, of which one is recorded at a time", async () => {
    const { started, batches, recorded, rooms } = starting(3);
    for (const result of [1, 2, 3, 4]) started.add(Promise.resolve(result));
    let isIdle = false;
    const idle = started.idle().then(() => (isIdle = true));
    await until(
      "the first batch",
      () => batches.length,
      (count) => count === 1,
    );
    started.add(Promise.resolve(5));
    expect([started.count(), rooms()]).to.deep.equal([5, 0]);
    await recorded();
    await until(
      "the second batch",
      () => batches.length,
      (count) => count === 2,
    );
    expect([started.count(), rooms(), isIdle]).to.deep.equal([2, 1, false]);
    await recorded();
    await idle;
    expect(batches).to.deep.equal([
      [1, 2, 3],
      [4, 5],
    ]);
    expect(started.count()).to.equal(0);
    // After a rest it begins again.
    started.add(Promise.resolve(6));
    await recorded();
    await started.idle();
    expect(batches.at(-1)).to.deep.equal([6]);
  });

  it("without a result takes no room and is not recorded", async () => {
    const { started, batches, rooms } = starting(3);
    await started.idle();
    started.add(Promise.resolve(null));
    expect(started.count()).to.equal(1);
    await started.idle();
    expect([started.count(), rooms(), batches]).to.deep.equal([0, 1, []]);
  });
});
