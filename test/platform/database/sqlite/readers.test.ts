import { expect } from "chai";
import type { RawRow } from "../../../../src/platform/database/database.ts";
import type { Connection } from "../../../../src/platform/database/sqlite/connection.ts";
import { makeReaders } from "../../../../src/platform/database/sqlite/open.ts";

interface Asked {
  readonly text: string;
  answer(rows: RawRow[]): void;
  fail(error: Error): void;
}

/** A connection whose statements the test answers. */
function connection(asked: Asked[]): Connection {
  const none = () => Promise.reject(new Error("nobody writes here"));
  return {
    all: (sql, values) =>
      new Promise((resolve, reject) => {
        asked.push({ text: [sql, ...values].join(" "), answer: resolve, fail: reject });
      }),
    run: none,
    exec: none,
    close: () => Promise.resolve(),
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("the readers of a SQLite store", () => {
  let asked: Asked[];
  let readers: ReturnType<typeof makeReaders>;

  beforeEach(() => {
    asked = [];
    readers = makeReaders([connection(asked)]);
  });

  it("run identical waiting statements once and give each caller its own rows", async () => {
    const first = readers.all("SELECT a", [1]);
    await settled();
    const waiting = [1, 1, 2, 1].map((value) => readers.all("SELECT a", [value]));
    await settled();
    expect(asked.map(({ text }) => text)).to.deep.equal(["SELECT a 1"]);
    asked[0]?.answer([{ a: "old" }]);
    expect(await first).to.deep.equal([{ a: "old" }]);
    await settled();
    asked[1]?.answer([{ a: "new" }]);
    await settled();
    asked[2]?.answer([{ a: "two" }]);
    const rows = await Promise.all(waiting);
    expect(rows).to.deep.equal([[{ a: "new" }], [{ a: "new" }], [{ a: "two" }], [{ a: "new" }]]);
    expect(new Set(rows.map(([row]) => row))).to.have.length(4);
    expect(asked.map(({ text }) => text)).to.deep.equal(["SELECT a 1", "SELECT a 1", "SELECT a 2"]);
  });

  it("run identical statements of one turn once, although a connection is idle for each", async () => {
    readers = makeReaders([connection(asked), connection(asked)]);
    const both = [readers.all("SELECT a", []), readers.all("SELECT a", [])];
    const other = readers.all("SELECT b", []);
    await settled();
    expect(asked.map(({ text }) => text)).to.deep.equal(["SELECT a", "SELECT b"]);
    asked[0]?.answer([{ a: 1 }]);
    asked[1]?.answer([{ b: 2 }]);
    const [one, two] = await Promise.all(both);
    expect([one, two]).to.deep.equal([[{ a: 1 }], [{ a: 1 }]]);
    expect(one?.[0]).not.to.equal(two?.[0]);
    expect(await other).to.deep.equal([{ b: 2 }]);
  });

  it("never answer with a statement that began before the call", async () => {
    const before = readers.all("SELECT a", []);
    await settled();
    asked[0]?.answer([{ a: 1 }]);
    await before;
    const running = readers.all("SELECT a", []);
    await settled();
    const after = readers.all("SELECT a", []);
    await settled();
    asked[1]?.answer([{ a: 1 }]);
    await running;
    await settled();
    const later = readers.all("SELECT a", []);
    await settled();
    asked[2]?.answer([{ a: 2 }]);
    expect(await after).to.deep.equal([{ a: 2 }]);
    await settled();
    asked[3]?.answer([{ a: 3 }]);
    expect(await later).to.deep.equal([{ a: 3 }]);
  });

  it("fail all callers of a shared statement, and continue", async () => {
    const running = readers.all("SELECT a", []);
    await settled();
    const both = [readers.all("SELECT b", []), readers.all("SELECT b", [])];
    await settled();
    const failures = Promise.allSettled(both);
    asked[0]?.answer([]);
    await running;
    await settled();
    asked[1]?.fail(new Error("no such column"));
    expect((await failures).map(({ status }) => status)).to.deep.equal(["rejected", "rejected"]);
    const next = readers.all("SELECT b", []);
    await settled();
    asked[2]?.answer([{ b: 1 }]);
    expect(await next).to.deep.equal([{ b: 1 }]);
    await readers.close();
  });
});
