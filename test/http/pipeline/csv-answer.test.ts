import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import Koa from "koa";
import { sendCsv } from "../../../src/http/pipeline/respond.ts";
import type { Exchange, RequestState } from "../../../src/http/pipeline/exchange.ts";
import type { CsvCell } from "../../../src/kernel/csv.ts";
import { silentLogger } from "../../../src/platform/logger/index.ts";
import { until } from "../../support/until.ts";

const wide = Array.from({ length: 500 }, () => ["x".repeat(200)]);

describe("a CSV response", () => {
  let server: Server;
  let url: string;
  let pages: () => AsyncIterable<readonly (readonly CsvCell[])[]>;

  before((done) => {
    const koa = new Koa<RequestState>();
    koa.silent = true;
    koa.use((ctx) =>
      sendCsv(ctx as Exchange, { head: ["a"], pages: pages(), fileName: "a.csv" }, silentLogger),
    );
    const handle = koa.callback();
    server = createServer((request, response) => void handle(request, response));
    server.listen(0, "127.0.0.1", () => {
      url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
      done();
    });
  });
  after((done) => {
    server.closeAllConnections();
    server.close(done);
  });

  it("breaks off if the rest cannot be read, so that nobody takes a part for the whole", async () => {
    pages = async function* () {
      yield wide;
      await Promise.resolve();
      throw new Error("the store is away");
    };
    const answer = await fetch(url);
    expect(answer.status).to.equal(200);
    const text = await answer.text().catch((error: unknown) => error);
    expect(text).to.be.instanceOf(TypeError);
  });

  it("is an ordinary error if nothing could be read", async () => {
    // oxlint-disable-next-line require-yield -- it fails before its first page
    pages = async function* () {
      await Promise.resolve();
      throw new Error("the store is away");
    };
    expect((await fetch(url)).status).to.equal(500);
  });

  it("reads no further than the client, and stops when the client has left", async () => {
    let read = 0;
    let hasEnded = false;
    pages = async function* () {
      try {
        for (;;) {
          read += 1;
          yield wide;
          await Promise.resolve();
        }
      } finally {
        hasEnded = true;
      }
    };
    const leaving = new AbortController();
    const answer = await fetch(url, { signal: leaving.signal });
    const reader = answer.body?.getReader();
    await reader?.read();
    const readAtRest = await until(
      "the server to wait for the client",
      async () => {
        const before = read;
        await new Promise((resolve) => setTimeout(resolve, 100));
        return read === before ? read : null;
      },
      (count) => count !== null,
    );
    expect(readAtRest).to.be.lessThan(500);
    leaving.abort();
    await until(
      "the end of reading",
      () => hasEnded,
      (ended) => ended,
    );
  });
});
