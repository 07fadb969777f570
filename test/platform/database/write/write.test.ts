import { expect } from "chai";
import { NotFound } from "../../../../src/kernel/errors.ts";
import {
  NestedWrite,
  StatementFailed,
  UniqueViolation,
} from "../../../../src/platform/database/errors.ts";
import { openDatabase } from "../../../../src/platform/database/open.ts";
import type { Database, Tx } from "../../../../src/platform/database/database.ts";
import { eachStore, testContext, testsAll } from "../../../support/store/stores.ts";
import {
  account,
  accounts,
  countEntries,
  createAccounts,
  deposit,
  entries,
  onlyAccount,
} from "../accounts.ts";

const changes = testsAll ? 2_000 : 500;

eachStore("db.write", (store) => {
  let db: Database;

  const write = <T>(fn: (tx: Tx) => Promise<T>) => db.write(testContext, fn);

  async function failure(promise: Promise<unknown>): Promise<unknown> {
    try {
      await promise;
    } catch (error) {
      return error;
    }
    throw new Error("it did not fail");
  }

  beforeEach(async () => {
    db = await store.open(await store.place("empty"));
    await createAccounts(db);
  });

  it("returns the result of its function after the commit", async () => {
    const given = await write(async (tx) => {
      await tx.insert(accounts, account("a"));
      return "given";
    });
    expect(given).to.equal("given");
    expect((await onlyAccount(db)).id).to.equal("a");
  });

  it(`loses none of ${String(changes)} changes of one row that are made at once`, async () => {
    await write((tx) => tx.insert(accounts, account("a")));
    await Promise.all(
      Array.from({ length: changes }, (_, index) =>
        write((tx) => deposit(tx, "a", 3n, `entry-${String(index)}`)),
      ),
    );
    const { balance, version } = await onlyAccount(db);
    expect({ balance, version }).to.deep.equal({ balance: BigInt(3 * changes), version: changes });
    expect(await countEntries(db)).to.equal(changes);
  });

  it("fails alone among the writes that share its commit, and leaves nothing behind", async () => {
    await write((tx) => tx.insert(accounts, account("taken")));
    const results = await Promise.allSettled(
      Array.from({ length: 30 }, (_, index) =>
        write(async (tx) => {
          await tx.insert(accounts, account(`a${String(index)}`));
          tx.append(entries, {
            id: `e${String(index)}`,
            accountId: `a${String(index)}`,
            amount: 1n,
          });
          if (index % 10 === 3) throw new NotFound("It went away.");
          if (index % 10 === 7) await tx.insert(accounts, account("taken"));
        }),
      ),
    );
    const failed = results.flatMap((result, index) =>
      result.status === "rejected" ? [index] : [],
    );
    expect(failed).to.deep.equal([3, 7, 13, 17, 23, 27]);
    expect(await db.find(accounts, "WHERE id = 'a3' OR id = 'a7'")).to.deep.equal([]);
    expect(await countEntries(db)).to.equal(24);
  });

  it("fails alone if a row that it appended is refused", async () => {
    await write((tx) => tx.insert(accounts, account("a")));
    const seen: string[] = [];
    const results = await Promise.allSettled(
      ["one", "two", "one", "three"].map((id, index) =>
        write((tx) => {
          tx.afterCommit(() => seen.push(`${id} ${String(index)}`));
          return deposit(tx, "a", 1n, id);
        }),
      ),
    );
    const failed: unknown[] = results.flatMap((result) =>
      result.status === "rejected" ? [result.reason as unknown] : [],
    );
    expect(failed).to.have.length(1);
    expect(failed[0]).to.be.instanceOf(UniqueViolation);
    expect(failed[0]).to.include({ table: "test_entries", index: "test_entries_pkey" });
    expect((await onlyAccount(db)).balance).to.equal(3n);
    expect(await countEntries(db)).to.equal(3);
    expect(seen.map((each) => each.slice(0, -2)).sort()).to.deep.equal(["one", "three", "two"]);
  });

  it("refuses a nested write at once, and continues", async () => {
    const error = await failure(write(() => write(() => Promise.resolve())));
    expect(error).to.be.instanceOf(NestedWrite);
    const afterAwait = await failure(
      write(async (tx) => {
        await tx.find(accounts, "");
        await write(() => Promise.resolve());
      }),
    );
    expect(afterAwait).to.be.instanceOf(NestedWrite);
    expect(await write(() => Promise.resolve(1))).to.equal(1);
  });

  it("distinguishes its own writes from those of another store", async () => {
    const other = await store.open(await store.place("empty"));
    const writeOther = (fn: () => Promise<unknown>) => other.write(testContext, fn);
    const within = await write(() =>
      writeOther(async () => [
        await failure(write(() => Promise.resolve())),
        await failure(writeOther(() => Promise.resolve())),
      ]),
    );
    for (const error of within as unknown[]) expect(error).to.be.instanceOf(NestedWrite);
    const after = await write(async () => {
      await writeOther(() => Promise.resolve());
      return failure(write(() => Promise.resolve()));
    });
    expect(after).to.be.instanceOf(NestedWrite);
  });

  it("refuses a read inside a write that bypasses its tx", async () => {
    const error = await failure(write(() => db.find(accounts, "")));
    expect(String(error)).to.contain("bypassed its tx");
  });

  it("blocks other writes only until its time limit if it contains another write and nesting is not refused", async () => {
    const place = await store.place("empty");
    await createAccounts(await store.open(place));
    // Only SQLite's outer write meets the limit. The others must not, however slow the machine is.
    const limits = store.dialect === "sqlite" ? { writeMilliseconds: 5_000 } : {};
    const lenient = await openDatabase({ ...place, limits });
    try {
      const inner = () => lenient.write(testContext, (tx) => tx.insert(accounts, account("inner")));
      const outer = lenient.write(testContext, async (tx) => {
        expect(await lenient.find(accounts, "")).to.deep.equal([]);
        await inner();
        await tx.insert(accounts, account("outer"));
      });
      // PostgreSQL runs it on another connection; on SQLite it waits for the write that waits for it.
      if (store.dialect === "postgres") await outer;
      else expect(String(await failure(outer))).to.contain("took longer than 5000 ms");
      await lenient.write(testContext, (tx) => tx.insert(accounts, account("next")));
      const ids = (await lenient.find(accounts, "ORDER BY id")).map(({ id }) => id);
      const expected = { postgres: ["inner", "next", "outer"], sqlite: ["inner", "next"] };
      expect(ids).to.deep.equal(expected[store.dialect]);
    } finally {
      await lenient.close();
    }
  });

  it("may be started after another write, also from its after-commit action", async () => {
    const later = await write((tx) => {
      const laterWrite = new Promise<number>((resolve, reject) => {
        tx.afterCommit(() => {
          write(() => Promise.resolve(2)).then(resolve, reject);
        });
      });
      // Wrapped in an object, because a promise would be awaited.
      return Promise.resolve({ laterWrite });
    });
    expect(await later.laterWrite).to.equal(2);
  });

  it("has a tx that is unusable after the write has ended", async () => {
    let kept: Tx | undefined;
    await write((tx) => {
      kept = tx;
      return Promise.resolve();
    });
    const tx = kept as unknown as Tx;
    expect(String(await failure(tx.find(accounts, "")))).to.contain("after its write had ended");
    expect(String(await failure(tx.insert(accounts, account("a"))))).to.contain("ended");
    expect(() => {
      tx.append(entries, { id: "e", accountId: "a", amount: 1n });
    }).to.throw("ended");
    expect(() => {
      tx.afterCommit(() => undefined);
    }).to.throw("ended");
  });

  it("fails if one of its statements failed, even if its function caught the error", async () => {
    await write((tx) => tx.insert(accounts, account("a")));
    const error = await failure(
      write(async (tx) => {
        await tx.insert(accounts, account("b"));
        await tx.insert(accounts, account("a")).catch(() => undefined);
      }),
    );
    expect(error).to.be.instanceOf(UniqueViolation);
    expect((await onlyAccount(db)).id).to.equal("a");
  });

  it("fails with the error that its function throws after a failed statement", async () => {
    await write((tx) => tx.insert(accounts, account("a")));
    const error = await failure(
      write(async (tx) => {
        try {
          await tx.insert(accounts, account("a"));
        } catch {
          throw new NotFound("Taken.");
        }
      }),
    );
    expect(error).to.be.instanceOf(NotFound);
  });

  it("waits for statements that were not awaited", async () => {
    await write((tx) => {
      for (let index = 0; index < 20; index += 1) {
        void tx.insert(accounts, account(`a${String(index)}`));
      }
      return Promise.resolve();
    });
    expect(await db.find(accounts, "")).to.have.length(20);
  });

  it("names the index that refused a row", async () => {
    await write((tx) => tx.insert(accounts, account("a", { label: "x" })));
    const byIndex = await failure(write((tx) => tx.insert(accounts, account("b", { label: "x" }))));
    expect(byIndex).to.include({ table: "test_accounts", index: "test_accounts_label" });
    const byKey = await failure(write((tx) => tx.insert(accounts, account("a", { label: "y" }))));
    expect(byKey).to.include({ table: "test_accounts", index: "test_accounts_pkey" });
  });

  it("inserts a row unless it exists", async () => {
    const insert = () => write((tx) => tx.insertIfAbsent(accounts, account("a")));
    expect([await insert(), await insert()]).to.deep.equal([true, false]);
  });

  it("inserts many rows in few statements", async () => {
    const rows = Array.from({ length: 1_234 }, (_, index) => account(`a${String(index)}`));
    await write((tx) => tx.insertMany(accounts, rows));
    expect(await db.find(accounts, "")).to.have.length(1_234);
    await write((tx) => tx.insertMany(accounts, []));
  });

  it("returns the number of rows that an update found in the expected state", async () => {
    await write((tx) => tx.insert(accounts, account("a", { version: 4 })));
    const close = () =>
      write((tx) =>
        tx.update(accounts, { isOpen: false, version: 5 }, "WHERE id = $1 AND version = $2", [
          "a",
          4,
        ]),
      );
    expect([await close(), await close()]).to.deep.equal([1, 0]);
    expect(await onlyAccount(db)).to.include({ isOpen: false, version: 5, label: "a" });
  });

  it("refuses an update without a condition, without a change, or of unknown columns", async () => {
    const update = (set: object, where: string) =>
      failure(write((tx) => tx.update(accounts, set, where)));
    expect(String(await update({ version: 1 }, ""))).to.contain("needs a WHERE");
    expect(String(await update({}, "WHERE 1 = 1"))).to.contain("sets nothing");
    expect(String(await update({ nothing: 1 }, "WHERE 1 = 1"))).to.contain("nothing");
  });

  it("refuses a number of values that differs from the number of placeholders", async () => {
    const error = await failure(
      write((tx) => tx.run("DELETE FROM test_accounts WHERE id = $1", [])),
    );
    expect(String(error)).to.contain("0 values were given for 1");
  });

  it("calls finish inside the transaction with the result of its function", async () => {
    const context = {
      ...testContext,
      finish: (tx: Tx, result: unknown) => tx.insert(accounts, account(String(result))),
    };
    await db.write(context, () => Promise.resolve("a"));
    expect((await onlyAccount(db)).id).to.equal("a");
    const failing = { ...context, finish: () => Promise.reject(new Error("no room")) };
    await failure(db.write(failing, (tx) => tx.insert(accounts, account("b"))));
    expect((await onlyAccount(db)).id).to.equal("a");
  });

  it("runs wake-ups only after the commit, and a failing one has no effect", async () => {
    const seen: string[] = [];
    await write(async (tx) => {
      tx.afterCommit(() => {
        throw new Error("nobody awake");
      });
      tx.afterCommit(() => seen.push("committed"));
      await tx.insert(accounts, account("a"));
      expect(seen).to.deep.equal([]);
    });
    await failure(
      write((tx) => {
        tx.afterCommit(() => seen.push("rolled back"));
        return Promise.reject(new Error("no"));
      }),
    );
    expect(seen).to.deep.equal(["committed"]);
  });

  it("counts and returns the rows of RETURNING", async () => {
    await write((tx) => tx.insertMany(accounts, [account("a"), account("b")]));
    const sql = "UPDATE test_accounts SET version = version + $1 RETURNING id, version";
    const rows = await write((tx) => tx.all(sql, [1]));
    expect(rows).to.have.deep.members([
      { id: "a", version: 1 },
      { id: "b", version: 1 },
    ]);
    expect(await write((tx) => tx.run(sql, [1]))).to.equal(2);
  });

  it("names the statement but no value if the database refuses it", async () => {
    const error = await failure(
      write((tx) =>
        tx.run("UPDATE test_accounts SET nothing = $1 WHERE id = $2", ["secret-value", "a"]),
      ),
    );
    expect(error).to.be.instanceOf(StatementFailed);
    expect(String(error)).to.contain("UPDATE test_accounts SET nothing");
    expect(JSON.stringify(error) + String(error)).not.to.contain("secret-value");
  });

  it("is refused if it bypasses db.write", async () => {
    for (const sql of [
      "DELETE FROM test_accounts",
      "INSERT INTO test_entries VALUES ('a', 'b', 'c') RETURNING id",
    ]) {
      const error = await failure(db.all(sql));
      expect(String(error), sql).to.contain("outside db.write");
    }
  });

  it("does not block readers, who see the committed state", async () => {
    await write((tx) => tx.insert(accounts, account("a")));
    let letGo: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    let isIn: () => void = () => undefined;
    const inside = new Promise<void>((resolve) => (isIn = resolve));
    const writing = write(async (tx) => {
      await tx.update(accounts, { version: 1 }, "WHERE id = $1", ["a"]);
      isIn();
      await held;
    });
    await inside;
    for (let count = 0; count < 50; count += 1) expect((await onlyAccount(db)).version).to.equal(0);
    letGo();
    await writing;
    expect((await onlyAccount(db)).version).to.equal(1);
  });

  it("fails if it hangs, and then blocks no other write", async () => {
    const place = await store.place("empty");
    await createAccounts(await store.open(place));
    // Longer than a normal write takes, even on a machine that pauses meanwhile.
    const impatient = await store.open(place, { writeMilliseconds: 1_500 });
    const hung = impatient.write(testContext, async (tx) => {
      await tx.insert(accounts, account("hung"));
      await new Promise(() => undefined);
    });
    const next = impatient.write(testContext, (tx) => tx.insert(accounts, account("next")));
    expect(String(await failure(hung))).to.contain("took longer than 1500 ms");
    await next;
    expect((await onlyAccount(impatient)).id).to.equal("next");
  });

  it("keeps the async context of its caller", async () => {
    const { AsyncLocalStorage } = await import("node:async_hooks");
    const request = new AsyncLocalStorage<number>();
    const seen = await Promise.all(
      [1, 2, 3].map((id) =>
        request.run(id, () => write(() => Promise.resolve(request.getStore()))),
      ),
    );
    expect(seen).to.deep.equal([1, 2, 3]);
  });

  it("is refused on a closed store, after earlier writes have been answered", async () => {
    const other = await store.open(await store.place("empty"));
    await createAccounts(other);
    const last = other.write(testContext, (tx) => tx.insert(accounts, account("a")));
    await other.close();
    await last;
    expect(await failure(other.write(testContext, () => Promise.resolve()))).to.include({
      status: 503,
    });
    expect(await failure(other.find(accounts, ""))).to.include({ status: 503 });
  });
});
