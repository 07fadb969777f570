import { expect } from "chai";
import { knock, makePulse } from "../../../src/platform/database/postgres/open.ts";
import { until } from "../../support/until.ts";

const limits = { quietMs: 5, probeMs: 20, checkMs: 5, lateMs: 60_000 };

/** A statement that is answered, or given up, on command. */
function makeStatement() {
  let answer: () => void = () => undefined;
  let giveUp: () => void = () => undefined;
  const promise = new Promise<string>((resolve, reject) => {
    answer = () => {
      resolve("answered");
    };
    giveUp = () => {
      reject(new Error("given up"));
    };
  });
  return { promise, answer, giveUp };
}

describe("the pulse of a database server", () => {
  it("waits for a slow statement as long as the server accepts connections, or refuses them", async () => {
    let probes = 0;
    const pulse = makePulse(() => {
      probes += 1;
      return probes % 2 === 0 ? Promise.reject(new Error("no certificate")) : Promise.resolve(true);
    }, limits);
    const { promise, answer, giveUp } = makeStatement();
    const waiting = pulse.during(promise, giveUp);
    await until(
      "several probes",
      () => probes,
      (count) => count > 4,
    );
    expect(pulse.isSilent()).to.equal(false);
    answer();
    expect(await waiting).to.equal("answered");
  });

  it("gives statements up if the server answers nothing, and notices when it answers again", async () => {
    let isPaused = true;
    const pulse = makePulse(
      () => (isPaused ? new Promise(() => undefined) : Promise.resolve(true)),
      limits,
    );
    const statements = [makeStatement(), makeStatement()];
    const results = await Promise.allSettled(
      statements.map(({ promise, giveUp }) => pulse.during(promise, giveUp)),
    );
    expect(results.map(({ status }) => status)).to.deep.equal(["rejected", "rejected"]);
    expect(pulse.isSilent()).to.equal(true);
    isPaused = false;
    await until(
      "the answer",
      () => pulse.isSilent(),
      (isSilent) => !isSilent,
    );
  });

  it("gives statements up if nothing can be asked and none is answered, and asks no more once it is stopped", async () => {
    let probes = 0;
    const pulse = makePulse(() => {
      probes += 1;
      return Promise.resolve(false);
    }, limits);
    const { promise, giveUp } = makeStatement();
    const [result] = await Promise.allSettled([pulse.during(promise, giveUp)]);
    expect(result.status).to.equal("rejected");
    expect(pulse.isSilent()).to.equal(true);
    pulse.stop();
    const before = probes;
    await new Promise((resolve) => setTimeout(resolve, 10 * limits.checkMs));
    // The one that was under way when it was stopped has begun before.
    expect(probes).to.equal(before);
  });

  it("is not disturbed by what this process lacks, such as a file of certificates", async () => {
    const url = "postgres://till@127.0.0.1:1/till?sslmode=verify-full&sslrootcert=/nonexistent.pem";
    expect(await knock(url)).to.equal(true);
  });

  it("asks for no connection while statements are answered, or none is waiting", async () => {
    let probes = 0;
    const pulse = makePulse(
      () => {
        probes += 1;
        return Promise.resolve(true);
      },
      { ...limits, quietMs: 60_000 },
    );
    const { promise, answer, giveUp } = makeStatement();
    const waiting = pulse.during(promise, giveUp);
    for (let count = 0; count < 5; count += 1) {
      await pulse.during(Promise.resolve(), () => undefined);
      await new Promise((resolve) => setTimeout(resolve, limits.checkMs));
    }
    answer();
    await waiting;
    expect(probes).to.equal(0);
  });
});
