import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect } from "chai";
import type { Database } from "../../../src/platform/database/database.ts";
import type { StoreOptions } from "../../../src/platform/database/open.ts";
import { compiledProgram } from "../../support/programs/built.ts";
import { endWithThisProcess } from "../../support/programs/guard.ts";
import { eachStore, testContext, testsAll } from "../../support/store/stores.ts";
import {
  account,
  accounts,
  countEntries,
  createAccounts,
  entries,
  onlyAccount,
} from "./accounts.ts";
import type { WorkerTask } from "./worker.ts";

/** The number of changes by each of two processes. */
const changes = testsAll ? 1_000 : 250;
const worker = new URL("worker.ts", import.meta.url);

function start(task: WorkerTask): ChildProcess {
  const child = spawn(process.execPath, [compiledProgram(worker), JSON.stringify(task)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  endWithThisProcess(child);
  return child;
}

eachStore("processes on one store", function (store) {
  let place: StoreOptions;
  let db: Database;

  beforeEach(async () => {
    place = await store.place("empty");
    db = await store.open(place);
    await createAccounts(db);
    await db.write(testContext, (tx) => tx.insert(accounts, account("a")));
  });

  it(`lose none of ${String(2 * changes)} changes of one row, and refuse none`, async () => {
    const names = ["left", "right"];
    const exits = names.map(async (name) => {
      const [code] = (await once(start({ place, name, deposits: changes }), "exit")) as [number];
      return code;
    });
    expect(await Promise.all(exits)).to.deep.equal([0, 0]);
    const { balance, version } = await onlyAccount(db);
    expect({ balance, version }).to.deep.equal({
      balance: BigInt(2 * changes),
      version: 2 * changes,
    });
    expect(await countEntries(db)).to.equal(2 * changes);
  });

  it("lose no confirmed change when they are killed", async () => {
    for (const name of ["first", "second", "third"]) {
      const child = start({ place, name, deposits: null });
      const answered: string[] = [];
      const { stdout } = child;
      if (stdout === null) throw new Error("the worker has no output");
      for await (const id of createInterface(stdout)) {
        answered.push(id);
        if (answered.length === 150) child.kill("SIGKILL");
      }
      const kept = new Set((await db.find(entries, "")).map(({ id }) => id));
      expect(answered.filter((id) => !kept.has(id))).to.deep.equal([]);
      // In one statement, because the server may still execute the last COMMIT that it received.
      const [row] = await db.all<{ balance: string; count: number }>(
        "SELECT balance, (SELECT COUNT(*) FROM test_entries) AS count FROM test_accounts",
      );
      expect(Number(row?.balance)).to.equal(row?.count);
    }
  });
});
