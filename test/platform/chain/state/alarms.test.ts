import { expect } from "chai";
import {
  createAlarms,
  openMax,
  restSubject,
  type Alarm,
  type ChainAlarms,
} from "../../../../src/platform/chain/state/alarms.ts";
import {
  countOpenAlarms,
  endAlarms,
  openAlarms,
  writeAlarms,
} from "../../../../src/platform/chain/state/provider-health.ts";
import { silentLogger, type Logger } from "../../../../src/platform/logger/index.ts";
import type { Database, Tx } from "../../../../src/platform/database/database.ts";
import { eachStore, testContext } from "../../../support/store/stores.ts";

const startAt = Date.UTC(2026, 10, 2);

function open() {
  const said: string[] = [];
  let now = startAt;
  const logger: Logger = {
    ...silentLogger,
    error: (_details: unknown, message?: string) => said.push(message ?? ""),
  };
  const alarms = createAlarms({ clock: { now: () => now }, logger });
  return { alarms, said, advance: (milliseconds: number) => (now += milliseconds) };
}

function raiseMany(alarms: ChainAlarms, count: number): void {
  for (let place = 0; place < count; place += 1) {
    alarms.raise("payment_held", `payment ${String(place)}`, "is held");
  }
}

describe("The alarms of a network", () => {
  it("are logged once, and again if the message changes, and keep the time of the first", () => {
    const { alarms, said, advance } = open();
    alarms.raise("token_disabled", "USDT", "18 decimals");
    advance(5);
    alarms.raise("token_disabled", "USDT", "18 decimals");
    alarms.raise("token_disabled", "USDT", "8 decimals");
    expect(said).to.deep.equal(["18 decimals", "8 decimals"]);
    expect(alarms.open().map(({ message, raisedAt }) => [message, raisedAt])).to.deep.equal([
      ["8 decimals", startAt],
    ]);
  });

  it("are kept up to a limit for each kind; one alarm represents the others until the last ends", () => {
    const { alarms, said } = open();
    raiseMany(alarms, openMax + 3);
    expect(said).to.have.length(openMax + 3);
    expect(alarms.open()).to.have.length(openMax + 1);
    expect(alarms.open().at(-1)).to.include({ kind: "payment_held", subject: restSubject });
    // An alarm beyond the limit may be any subject, so it counts as open.
    expect(alarms.holds("payment_held", `payment ${String(openMax + 2)}`)).to.equal(true);
    expect(alarms.holds("token_disabled", "USDT")).to.equal(false);
    alarms.raise("token_disabled", "USDT", "is off");
    expect(alarms.open()).to.have.length(openMax + 2);
    for (let place = 1; place < openMax; place += 1) {
      alarms.clear("payment_held", `payment ${String(place)}`);
    }
    expect(alarms.holds("payment_held", restSubject)).to.equal(true);
    alarms.clear("payment_held", "payment 0");
    expect(alarms.open().map(({ subject }) => subject)).to.deep.equal(["USDT"]);
    raiseMany(alarms, openMax);
    expect(alarms.open()).to.have.length(openMax + 1);
  });
});

eachStore("The alarms of a network, stored", (store) => {
  let db: Database;
  beforeEach(async () => {
    db = await store.open();
  });
  const write = (alarms: ChainAlarms, at = startAt, network = "ethereum") =>
    db.write(testContext, async (tx) => {
      await writeAlarms(tx, network, alarms.changes(), at);
      alarms.written(alarms.changes());
    });
  const subjects = async () => (await openAlarms(db, "ethereum")).map(({ subject }) => subject);

  it("are written in one statement, however many, and deleted a month after their end", async () => {
    const { alarms, advance } = open();
    raiseMany(alarms, openMax + 1);
    let statements = 0;
    await db.write(testContext, (tx) =>
      writeAlarms(
        counting(tx, () => (statements += 1)),
        "ethereum",
        alarms.changes(),
        startAt,
      ),
    );
    alarms.written(alarms.changes());
    expect(statements).to.equal(2);
    expect(await countOpenAlarms(db)).to.deep.equal(new Map([["ethereum", openMax + 1]]));
    for (let place = 0; place < openMax; place += 1) {
      alarms.clear("payment_held", `payment ${String(place)}`);
    }
    advance(1);
    await write(alarms);
    expect(await subjects()).to.deep.equal([]);
    await write(alarms, startAt + 31 * 86_400_000);
    const [left] = await db.all<{ left: number }>('SELECT count(*) AS "left" FROM network_alarms');
    expect(left?.left).to.equal(0);
  });

  it("continue in another process, including those that one alarm represents", async () => {
    const { alarms } = open();
    raiseMany(alarms, openMax + 1);
    await write(alarms);
    const next = open().alarms;
    next.adopt((await openAlarms(db, "ethereum")) satisfies Alarm[]);
    expect(next.holds("payment_held", "payment that nobody kept")).to.equal(true);
    next.raise("payment_held", "another", "is held");
    expect(next.open()).to.have.length(openMax + 1);
  });

  it("are dropped once an operator has acknowledged them, except those raised since", async () => {
    const { alarms } = open();
    alarms.raise("providers_disagree", "one", "differs");
    alarms.raise("providers_disagree", "other", "differs");
    alarms.raise("token_disabled", "USDT", "is off");
    await write(alarms);
    await write(alarms, startAt, "tron");
    const kinds = ["providers_disagree"] as const;
    const end = (subject: string | null) =>
      db.write(testContext, (tx) =>
        endAlarms(tx, { network: "ethereum", kinds, subject }, startAt),
      );
    expect((await end("one")).map(({ subject }) => subject)).to.deep.equal(["one"]);
    expect(await end("one")).to.deep.equal([]);
    expect((await end(null)).map(({ subject }) => subject)).to.deep.equal(["other"]);
    alarms.raise("providers_disagree", "other", "differs again");
    alarms.keepOpen(await openAlarms(db, "ethereum"));
    expect(alarms.open().map(({ subject }) => subject)).to.deep.equal(["other", "USDT"]);
  });
});

/** Wraps a transaction and counts its statements. */
function counting(tx: Tx, count: () => void): Tx {
  return {
    ...tx,
    run: (...given) => {
      count();
      return tx.run(...given);
    },
    upsertMany: (...given) => {
      count();
      return tx.upsertMany(...given);
    },
  };
}
