import { expect } from "chai";
import { createLoginLock } from "../../../src/features/auth/login-lock.ts";
import { minute } from "../../../src/kernel/clock.ts";
import { stillClock } from "../../support/clock.ts";

describe("the login lock of a process", () => {
  const wrong = () => Promise.resolve(false);
  const right = () => Promise.resolve(true);
  const source = (n: number) => ({ email: `user${String(n)}@example.com`, ip: "192.0.2.1" });

  it("forgets accounts whose failures no longer count, and none that is locked", async () => {
    const clock = stillClock(0);
    const lock = createLoginLock({ clock });
    for (let n = 0; n < 10_000; n += 1) await lock.attempt(source(n), wrong);
    clock.advance(10 * minute);
    for (let failures = 1; failures < 10; failures += 1) await lock.attempt(source(0), wrong);
    let end: (isRight: boolean) => void = () => undefined;
    const running = new Promise<boolean>((resolve) => {
      end = resolve;
    });
    const slow = lock.attempt(source(2), () => running);
    clock.advance(5 * minute);
    // More accounts than are remembered, so that the old ones are swept.
    expect(await lock.attempt(source(10_001), right)).to.equal(true);
    const error = await lock.attempt(source(0), right).catch((thrown: unknown) => thrown);
    expect(error).to.include({ code: "login_locked" });
    expect(await lock.attempt(source(1), right)).to.equal(true);
    for (let failures = 0; failures < 9; failures += 1) await lock.attempt(source(2), wrong);
    // The guess that was running is not forgotten: it is the tenth.
    end(false);
    expect(await slow).to.equal(false);
    const tenth = await lock.attempt(source(2), right).catch((thrown: unknown) => thrown);
    expect(tenth).to.include({ code: "login_locked" });
  });

  it("does not search all accounts again for each new one, however many are attacked", async () => {
    let reads = 0;
    const clock = {
      now: () => {
        reads += 1;
        return 0;
      },
    };
    const lock = createLoginLock({ clock });
    const attacked = 12_000;
    for (let n = 0; n < attacked; n += 1) await lock.attempt(source(n), wrong);
    // Two for each attempt, and one for each account of the only search.
    expect(reads).to.equal(2 * attacked + 10_000);
  });

  it("remembers no account that logs in, or whose failures have counted for a quarter of an hour", async () => {
    let [reads, now] = [0, 0];
    const clock = {
      now: () => {
        reads += 1;
        return now;
      },
    };
    const lock = createLoginLock({ clock });
    for (let n = 0; n < 10_001; n += 1) await lock.attempt(source(n), right);
    expect(reads, "without a search").to.equal(2 * 10_001);
    for (let n = 0; n < 10_000; n += 1) await lock.attempt(source(n), wrong);
    now = 15 * minute;
    for (let n = 10_000; n < 20_001; n += 1) await lock.attempt(source(n), wrong);
    expect(reads, "with two searches").to.equal(2 * 30_002 + 2 * 10_000);
  });

  it("lasts for a quarter of an hour after the last failure, and says how long it still lasts", async () => {
    const clock = stillClock(0);
    const lock = createLoginLock({ clock });
    for (let failures = 0; failures < 10; failures += 1) await lock.attempt(source(1), wrong);
    const waits: unknown[] = [];
    for (const wait of [0, 15 * minute - 1_001, 1_000]) {
      clock.advance(wait);
      const error: unknown = await lock
        .attempt(source(1), right)
        .catch((thrown: unknown) => thrown);
      waits.push((error as { retryAfterSeconds?: number }).retryAfterSeconds);
    }
    expect(waits).to.deep.equal([900, 2, 1]);
    clock.advance(1);
    expect(await lock.attempt(source(1), right)).to.equal(true);
  });

  it("counts the failures of guesses that run beside a right one, or have waited for it", async () => {
    const slow = () => {
      let end: (isRight: boolean) => void = () => undefined;
      const check = new Promise<boolean>((resolve) => {
        end = resolve;
      });
      return { end, check: () => check };
    };
    const lock = createLoginLock({ clock: stillClock(0) });
    const nineMore = async (n: number) => {
      for (let failures = 0; failures < 9; failures += 1) await lock.attempt(source(n), wrong);
    };
    const stateOf = (n: number) =>
      lock.attempt(source(n), right).catch((thrown: unknown) => (thrown as Error).name);
    const [one, two] = [slow(), slow()];
    const beside = [lock.attempt(source(1), one.check), lock.attempt(source(1), two.check)];
    one.end(true);
    await beside[0];
    two.end(false);
    await beside[1];
    await nineMore(1);
    expect(await stateOf(1)).to.equal("login_locked");

    await nineMore(2);
    const last = slow();
    const running = lock.attempt(source(2), last.check);
    const waiting = lock.attempt(source(2), wrong);
    last.end(true);
    expect(await Promise.all([running, waiting])).to.deep.equal([true, false]);
    await nineMore(2);
    expect(await stateOf(2)).to.equal("login_locked");
  });

  it("waits with the last guesses until those that are running have ended", async () => {
    const lock = createLoginLock({ clock: stillClock(0) });
    const ends: ((isRight: boolean) => void)[] = [];
    const slow = () =>
      new Promise<boolean>((resolve) => {
        ends.push(resolve);
      });
    const attempts = Array.from({ length: 11 }, () =>
      lock.attempt(source(1), slow).catch((thrown: unknown) => thrown),
    );
    expect(ends).to.have.length(10);
    for (const end of ends.slice(0, 9)) end(false);
    expect(await Promise.all(attempts.slice(0, 9))).to.deep.equal(
      Array.from(ends.slice(1), () => false),
    );
    expect(ends).to.have.length(10);
    ends[9]?.(false);
    expect(await attempts[10]).to.include({ code: "login_locked" });
  });
});
