import { expect } from "chai";
import { keepCheckouts } from "../../../src/features/checkout/kept.ts";
import { stillClock } from "../../support/app.ts";

describe("kept checkouts", () => {
  it("are loaded after the state of their network, so that it is never newer than their payments", async () => {
    // A newer state beside older payments could say that a payment is lost, and ask for it again, when it has returned.
    const calls: string[] = [];
    const find = keepCheckouts({
      sources: {
        versions() {
          calls.push("versions");
          const version = { version: "1", network: "tron", networkVersion: 7 };
          return Promise.resolve(new Map([["chk_a", version]]));
        },
        networkStates() {
          calls.push("states");
          return Promise.resolve(new Map([["tron", { version: 7 } as never]]));
        },
        load() {
          calls.push("load");
          return Promise.resolve(new Map());
        },
      },
      networks: new Map(),
      enabled: new Set(),
      clock: stillClock(0),
    });
    expect(await find("chk_a")).to.equal(null);
    expect(calls).to.deep.equal(["versions", "states", "versions", "load"]);
    await find("chk_a");
    expect(calls.slice(4)).to.deep.equal(["versions", "load"]);
  });
});
