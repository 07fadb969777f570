// A program for the tests with two processes on one store, or with killed ones.
import { openDatabase, type StoreOptions } from "../../../src/platform/database/open.ts";
import { testContext } from "../../support/store/stores.ts";
import { deposit } from "./accounts.ts";

export interface WorkerTask {
  readonly place: StoreOptions;
  /** The prefix of the ids of its entries. */
  readonly name: string;
  /** The number of concurrent deposits; null: 20 at a time until killed, each printed on a line when it is done. */
  readonly deposits: number | null;
}

const task = JSON.parse(process.argv[2] ?? "") as WorkerTask;
const db = await openDatabase(task.place);

async function depositOnce(id: string): Promise<void> {
  await db.write(testContext, (tx) => deposit(tx, "a", 1n, id));
}

if (task.deposits !== null) {
  const ids = Array.from({ length: task.deposits }, (_, index) => `${task.name}-${String(index)}`);
  await Promise.all(ids.map(depositOnce));
  await db.close();
} else {
  let count = 0;
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      for (;;) {
        count += 1;
        const id = `${task.name}-${String(count)}`;
        await depositOnce(id);
        process.stdout.write(`${id}\n`);
      }
    }),
  );
}
