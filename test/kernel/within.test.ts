import { expect } from "chai";
import { within } from "../../src/kernel/clock.ts";

const longMs = 600_000;

describe("work with a time limit", () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;

  it("has its own result in time, and leaves no timer", async () => {
    // Mocha starts its own timer once the test waits.
    await new Promise(setImmediate);
    const before = timers();
    const late = () => expect.fail("it was in time");
    expect(await within(longMs, Promise.resolve(1), late)).to.equal(1);
    const failed = within(longMs, Promise.reject(new Error("no work")), late);
    expect(await failed.catch(String)).to.equal("Error: no work");
    expect(timers()).to.equal(before);
  });

  it("has the other result, or error, when it is late", async () => {
    const never = new Promise<never>(() => undefined);
    expect(await within(1, never, () => "late")).to.equal("late");
    const refused = within(1, never, () => {
      throw new Error("too late");
    });
    expect(await refused.catch(String)).to.equal("Error: too late");
  });

  it("may be waited for after the limit", async () => {
    let end: (value: string) => void = () => undefined;
    const work = new Promise<string>((resolve) => (end = resolve));
    const waited = within(1, work, () => {
      end("done after all");
      return work;
    });
    expect(await waited).to.equal("done after all");
  });

  it("may fail unnoticed after the limit", async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on("unhandledRejection", note);
    try {
      let fail: (error: Error) => void = () => undefined;
      const work = new Promise<never>((_, reject) => (fail = reject));
      await within(1, work, () => null);
      fail(new Error("it failed later"));
      await new Promise(setImmediate);
      expect(unhandled).to.deep.equal([]);
    } finally {
      process.off("unhandledRejection", note);
    }
  });
});
