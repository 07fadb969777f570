// Two parties that read one stream of bytes differently let a stranger put requests into the connection of others.
import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { expect } from "chai";
import { startApp, type TestApp } from "../../support/app.ts";
import { freePort } from "../../support/programs/free-port.ts";
import { startNginx, type Proxy } from "../../support/programs/proxy.ts";
import { anyStore } from "../../support/store/stores.ts";
import { until } from "../../support/until.ts";

/** A second request, which must never be answered as one of its own. */
const hidden = "GET /healthz?hidden HTTP/1.1\r\nHost: hidden\r\n\r\n";
const login = "POST /v1/auth/login HTTP/1.1\r\nHost: till\r\nContent-Type: application/json\r\n";
const chunked = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

/** Streams of bytes that a proxy may take for one request, and another server for two. */
const ambiguous: Readonly<Record<string, string>> = {
  "a length beside chunks": `${login}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
  "chunks beside a length": `${login}Transfer-Encoding: chunked\r\nContent-Length: ${String(hidden.length + 5)}\r\n\r\n0\r\n\r\n${hidden}`,
  "two lengths": `${login}Content-Length: 0\r\nContent-Length: ${String(hidden.length)}\r\n\r\n${hidden}`,
  "two lengths in one header": `${login}Content-Length: 0, ${String(hidden.length)}\r\n\r\n${hidden}`,
  "a signed length": `${login}Content-Length: +0\r\n\r\n${hidden}`,
  "a hexadecimal length": `${login}Content-Length: 0x0\r\n\r\n${hidden}`,
  "a space before a header's colon": `${login}Content-Length : 0\r\n\r\n${hidden}`,
  "a folded header": `${login}X-Note: a\r\n Content-Length: 0\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n${hidden}`,
  "a misspelled encoding": `${login}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${hidden}`,
  "two encodings": `${login}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${hidden}`,
  "an encoding behind a tab and a control character": `${login}Transfer-Encoding:\t\x0bchunked\r\n\r\n0\r\n\r\n${hidden}`,
  "a chunk's size with a sign": `${login}Transfer-Encoding: chunked\r\n\r\n-0\r\n\r\n${hidden}`,
  "a chunk's size beyond 64 bits": `${login}Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n\r\n${hidden}`,
  "a chunk longer than its size": `${login}Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n${hidden}`,
  "lines without a carriage return": `${login.replaceAll("\r\n", "\n")}Transfer-Encoding: chunked\n\n0\n\n${hidden}`,
  "a lone carriage return in a header": `${login}X-Note: a\rContent-Length: 0\r\n\r\n${hidden}`,
  "a NUL in a header": `${login}X-Note: a\0b\r\nContent-Length: 0\r\n\r\n${hidden}`,
};

/** Texts that would end a header's line if they were written into one undecoded. */
const splitting = ["a%0d%0aX-Injected:1", "a%0aX-Injected:1", "%E5%98%8A%E5%98%8DX-Injected:1"];

interface Heard {
  readonly statuses: readonly number[];
  readonly text: string;
}

/** Writes bytes to a server and returns its responses, until it closes the connection or is silent after `isEnough`. */
async function hear(
  url: string,
  bytes: string,
  isEnough: (text: string) => boolean,
): Promise<Heard> {
  const { protocol, hostname, port } = new URL(url);
  // Not the address of the proxy, which Till trusts.
  const to = { host: hostname, port: Number(port), localAddress: "127.0.0.2" };
  const socket =
    protocol === "https:" ? connectTls({ ...to, rejectUnauthorized: false }) : connect(to);
  let text = "";
  let isOver = false;
  socket.on("data", (part: Buffer) => (text += part.toString("latin1")));
  socket.on("error", () => (isOver = true));
  socket.on("close", () => (isOver = true));
  socket.write(bytes, "latin1");
  try {
    await until(
      "the end of the responses",
      () => isOver || isEnough(text),
      (does) => does,
    );
  } finally {
    socket.destroy();
  }
  const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
  return { statuses, text };
}

anyStore("a request that could be read as two", (store) => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ place: await store.place("migrated"), background: false });
  });
  after(() => app.stop());

  for (const [what, bytes] of Object.entries(ambiguous)) {
    it(`is refused, and its connection is closed: ${what}`, async () => {
      const { statuses, text } = await hear(app.url, bytes, () => false);
      expect(statuses, text).to.have.length(1);
      expect(statuses[0]).to.be.within(400, 431);
      expect(text.toLowerCase()).to.include("connection: close");
    });
  }

  it("is answered as two if it is two, one after the other", async () => {
    const first = `${login}Transfer-Encoding: chunked\r\n\r\n${chunked("{}")}`;
    const { statuses } = await hear(app.url, first + hidden, (text) => text.includes(" 200 "));
    expect(statuses).to.deep.equal([400, 200]);
  });

  it("is ended if its headers arrive too slowly, while 64 of them keep nobody waiting", async () => {
    const { server } = app;
    const [forHeaders, forAll] = [server.headersTimeout, server.requestTimeout];
    expect([forHeaders, forAll]).to.deep.equal([10_000, 30_000]);
    // So that the test does not take as long. Node applies the times to requests that have begun, too.
    server.headersTimeout = 500;
    try {
      const slow = Promise.all(
        Array.from({ length: 64 }, () =>
          hear(app.url, "GET /healthz HTTP/1.1\r\nX: ", () => false),
        ),
      );
      expect((await app.request("GET", "/healthz")).status).to.equal(200);
      for (const { statuses } of await slow) expect(statuses).to.deep.equal([408]);
    } finally {
      server.headersTimeout = forHeaders;
    }
  });

  it("has no text of a stranger in the lines of a response's head", async () => {
    for (const text of splitting) {
      for (const target of [
        `/${text}`,
        `/pay/${text}`,
        `/pay/${text}?lang=${text}`,
        `/link/${text}?failed=${text}`,
        `/docs/${text}`,
        `/docs/?${text}`,
        `http://${text}/`,
      ]) {
        const bytes = `GET ${target} HTTP/1.1\r\nHost: ${text}\r\nX-Request-Id: ${text}\r\nOrigin: https://${text}\r\nAccept-Language: ${text}\r\nConnection: close\r\n\r\n`;
        const [head = ""] = (await hear(app.url, bytes, () => false)).text.split("\r\n\r\n");
        expect(head, target).to.match(/^HTTP\/1\.1 [234]\d\d /);
        expect(head.split(/\r|\n/).join("\n"), target).not.to.match(/^X-Injected/im);
        expect(head, target).not.to.include("\ufffd");
      }
    }
  });
});

/** Whether the tests behind nginx can run; they fail where nothing may be skipped. */
const hasNginx =
  spawnSync("nginx", ["-v"]).status === 0 || process.env["TILL_TEST_NO_SKIP"] === "1";

(hasNginx ? describe : describe.skip)("behind nginx with the shipped configuration", () => {
  anyStore("a stranger", (store) => {
    let app: TestApp;
    let nginx: Proxy;
    let folder: string;
    let received: string[] = [];

    before(async () => {
      app = await startApp({
        place: await store.place("migrated"),
        background: false,
        settings: {
          TILL_TRUST_PROXY: "127.0.0.1",
          TILL_RATE_LIMIT_SCALE: "1",
          TILL_RATE_LIMIT_LOGIN_PER_MINUTE: "40",
        },
      });
      app.server.prependListener("request", ({ url }: { url?: string }) => {
        received.push(url ?? "");
      });
      folder = await mkdtemp(join(tmpdir(), "till-nginx-"));
      nginx = await startNginx(folder, Number(new URL(app.url).port), await freePort());
    });
    after(async () => {
      await nginx.stop();
      await app.stop();
      await rm(folder, { recursive: true });
    });
    beforeEach(() => {
      received = [];
    });

    const honest = "GET /healthz HTTP/1.1\r\nHost: till\r\nConnection: close\r\n\r\n";

    it("puts no request into the connections that others use", async () => {
      for (const [what, bytes] of Object.entries(ambiguous)) {
        received = [];
        const closing = bytes.replace("Host: till", "Host: till\r\nX-Attack: 1");
        const { statuses, text } = await hear(nginx.url, closing, (heard) =>
          heard.includes(" 200 "),
        );
        // Every request that Till received was one that nginx has answered to its sender.
        expect(received.length, `${what}: ${text}`).to.be.at.most(statuses.length);
        for (let count = 0; count < 4; count += 1) {
          const next = await hear(nginx.url, honest, () => false);
          expect(next.statuses, what).to.deep.equal([200]);
          expect(next.text, what).to.include('"status":"ok"');
        }
      }
    });

    it("cannot choose the address by which the logins are limited", async () => {
      const statuses: number[] = [];
      for (let count = 0; count < 41; count += 1) {
        const body = `{"email":"ghost${String(count)}@example.com","password":"wrong password"}`;
        const heads = `${login}X-Forwarded-For: 203.0.113.${String(count)}\r\nForwarded: for=203.0.113.${String(count)}\r\nX-Real-IP: 203.0.113.1\r\nConnection: close\r\n`;
        const bytes = `${heads}Content-Length: ${String(body.length)}\r\n\r\n${body}`;
        statuses.push(...(await hear(nginx.url, bytes, () => false)).statuses);
      }
      expect(statuses.at(-1)).to.equal(429);
    });

    it("reads no metrics, however the path is written", async () => {
      for (const target of [
        "/metrics",
        "/metrics/",
        "//metrics",
        "/x/../metrics",
        "/%6detrics",
        "/metrics?a",
        "/metrics;a",
        "/METRICS",
        "https://till/metrics",
        "/metrics%2f",
        "/metrics%00",
      ]) {
        const bytes = `GET ${target} HTTP/1.1\r\nHost: till\r\nConnection: close\r\n\r\n`;
        const { statuses, text } = await hear(nginx.url, bytes, () => false);
        expect(statuses[0], target).to.be.within(400, 404);
        expect(text, target).not.to.include("# TYPE");
      }
    });
  });
});
