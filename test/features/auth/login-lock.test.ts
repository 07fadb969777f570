import { expect } from "chai";
import { createLoginLock } from "../../../src/features/auth/login-lock.ts";
import { minute } from "../../../src/kernel/clock.ts";
import { stillClock } from "../../support/app.ts";

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
    expect(reads).to.be.below(10 * attacked);
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
