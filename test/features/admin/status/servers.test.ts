import { expect } from "chai";
import {
  differencesTo,
  knownServers,
  recordEnd,
  recordServer,
  wordDifference,
} from "../../../../src/features/admin/status/servers.ts";
import { day, minute } from "../../../../src/kernel/clock.ts";
import type { Database } from "../../../../src/platform/database/database.ts";
import { eachStore, testContext } from "../../../support/store/stores.ts";

const start = Date.parse("2026-01-01T00:00:00Z");

eachStore("the servers of a store", (store) => {
  let db: Database;

  beforeEach(async () => {
    db = await store.open(await store.place("migrated"));
  });

  const settings = (startedAt: number) => ({
    startedAt,
    version: "1.0.0",
    baseUrl: "http://127.0.0.1",
    isBaseUrlSet: false,
    networks: ["sandbox"],
  });
  const deps = (now: number) => ({ db, clock: { now: () => now } });
  const record = (name: string, now: number, isAlone = false) =>
    recordServer(deps(now), testContext, name, settings(now), isAlone);
  const known = async (now: number) =>
    (await knownServers(db, now)).map(
      ({ server, isRunning }) => `${server} ${isRunning ? "runs" : "does not run"}`,
    );

  it("are known for a week after their last report, which a later server's start finds", async () => {
    await record("first", start);
    await record("second", start + 7 * day);
    expect(await known(start + 7 * day)).to.deep.equal(["second runs", "first does not run"]);
    await record("third", start + 7 * day + 1);
    expect(await known(start + 7 * day + 1)).to.deep.equal(["third runs", "second runs"]);
  });

  it("run until they have not reported for a minute, have ended, or one starts that is alone", async () => {
    await record("silent", start);
    expect(await known(start + minute)).to.deep.equal(["silent runs"]);
    expect(await known(start + minute + 1)).to.deep.equal(["silent does not run"]);
    await record("other", start + 1);
    await record("ended", start + 2);
    await recordEnd(deps(start + 3), testContext, "ended");
    expect(await known(start + 4)).to.deep.equal([
      ...["other runs", "silent runs", "ended does not run"],
    ]);
    await record("alone", start + 5, true);
    expect(await known(start + 6)).to.deep.equal([
      ...["alone runs", "ended does not run", "other does not run", "silent does not run"],
    ]);
  });
});

describe("a process beside running servers", () => {
  const settings = {
    startedAt: start,
    version: "1.0.0",
    baseUrl: "https://pay.example",
    isBaseUrlSet: true,
    networks: ["tron", "base"],
  };
  const server = { server: "one", settings, isRunning: true };

  it("differs from them in the URL, the networks in any order, and the version", () => {
    const { startedAt: _, ...own } = settings;
    const same = { ...own, networks: ["base", "tron"] };
    expect(differencesTo(same, [server])).to.deep.equal([]);
    const stopped = { ...server, isRunning: false };
    const other = { ...own, version: "1.1.0", isBaseUrlSet: false };
    const differences = differencesTo(other, [server, stopped]);
    expect(differences.map((each) => wordDifference(each, "this server"))).to.deep.equal([
      "The server that has run since 2026-01-01T00:00:00.000Z differs in TILL_BASE_URL: https://pay.example there, not set in this server.",
      "The server that has run since 2026-01-01T00:00:00.000Z differs in the version: 1.0.0 there, 1.1.0 in this server.",
    ]);
  });
});
