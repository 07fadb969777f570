import { expect } from "chai";
import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { minute } from "../../../src/kernel/clock.ts";
import { createGuard, type Resolve } from "../../../src/platform/outbound/guard.ts";
import { receiverCertificate } from "./certificate.ts";
import { hostileUrls } from "./hostile-urls.ts";
import { expectError, post, useSending } from "./sending.ts";

describe("the sender against hostile receivers", () => {
  const { receiver, peer, senderOf } = useSending();

  describe("protects the internal network", () => {
    for (const hostile of hostileUrls) {
      it(`sends nothing to ${JSON.stringify(hostile)}`, async () => {
        const canary = await receiver();
        const sender = senderOf({ allowCidrs: [] });
        const result = await sender.send(post(hostile.replaceAll("PORT", String(canary.port))));
        expect(result).to.have.property("kind").that.is.oneOf(["blocked", "invalid_url"]);
        expect(canary.connections()).to.equal(0);
      });
    }

    it("does not follow a redirect to loopback", async () => {
      const canary = await receiver();
      for (const status of [301, 302, 303, 307, 308]) {
        const { port } = await receiver((_, response) =>
          response
            .writeHead(status, { location: `http://127.0.0.1:${String(canary.port)}/` })
            .end(),
        );
        const result = await senderOf().send(post(`http://receiver.test:${String(port)}/`));
        expect(result).to.include({ outcome: "response", status });
      }
      expect(canary.requests).to.have.length(0);
    });

    it("does not connect if a name's addresses changed since they were checked", async () => {
      const canary = await receiver();
      const answers = [["93.184.216.34"], ["127.0.0.1"]];
      const resolve: Resolve = () => Promise.resolve(answers.shift() ?? []);
      const guard = createGuard({ allowCidrs: [], resolve });
      const sender = senderOf({ allowCidrs: [], resolve });
      const url = `https://rebind.test:${String(canary.port)}/`;
      expect(await guard.vetUrl(url)).to.include({ allowed: true });
      expectError(await sender.send(post(url)), "blocked");
      expect(canary.connections()).to.equal(0);
    });

    it("resolves a name once per connection, so that a later answer has no effect", async () => {
      const canary = await receiver();
      const answers = [["127.0.0.1"], ["10.255.255.1"]];
      let asked = 0;
      const resolve: Resolve = () => {
        asked += 1;
        return Promise.resolve(answers.shift() ?? []);
      };
      const result = await senderOf({ resolve }).send(
        post(`http://rebind.test:${String(canary.port)}/`),
      );
      expect(result).to.include({ outcome: "response", status: 200 });
      expect(asked).to.equal(1);
    });

    it("refuses a name with one private address among public ones", async () => {
      const canary = await receiver();
      const resolve: Resolve = () => Promise.resolve(["127.0.0.1", "93.184.216.34"]);
      const sender = senderOf({ allowCidrs: [], resolve });
      expectError(await sender.send(post(`https://half.test:${String(canary.port)}/`)), "blocked");
      expect(canary.connections()).to.equal(0);
    });

    it("refuses plain http outside the allow-list, even of a public name", async () => {
      const resolve: Resolve = () => Promise.resolve(["93.184.216.34"]);
      expectError(await senderOf({ resolve }).send(post("http://public.test/")), "blocked");
    });

    it("ignores proxies in the environment", async () => {
      const proxy = await receiver();
      const { port, requests } = await receiver();
      const names = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "NODE_USE_ENV_PROXY"];
      const before = names.map((name) => process.env[name]);
      for (const name of names) {
        process.env[name] = name.startsWith("NODE")
          ? "1"
          : `http://127.0.0.1:${String(proxy.port)}`;
      }
      try {
        await senderOf().send(post(`http://receiver.test:${String(port)}/`));
      } finally {
        for (const [place, name] of names.entries()) {
          if (before[place] === undefined) Reflect.deleteProperty(process.env, name);
          else process.env[name] = before[place];
        }
      }
      expect({ proxied: proxy.connections(), direct: requests.length }).to.deep.equal({
        proxied: 0,
        direct: 1,
      });
    });

    it("lets no environment variable disable certificate checks", async () => {
      const { port } = await receiver(undefined, receiverCertificate);
      const before = process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
      process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
      try {
        expectError(await senderOf().send(post(`https://receiver.test:${String(port)}/`)), "tls");
      } finally {
        if (before === undefined)
          Reflect.deleteProperty(process.env, "NODE_TLS_REJECT_UNAUTHORIZED");
        else process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = before;
      }
    });
  });

  describe("ends in time", () => {
    /** Expects the end by the limit of the whole exchange, or by the peer's behavior. */
    async function expectEnded(
      port: number,
      kind: "timeout" | "protocol",
      scheme = "http",
    ): Promise<void> {
      const limits = kind === "timeout" ? { totalMs: 200 } : {};
      const result = await senderOf({ limits }).send(
        post(`${scheme}://receiver.test:${String(port)}/`),
      );
      expectError(result, kind);
    }

    it("with a receiver that never answers", async () => {
      const { port } = await receiver(() => undefined);
      await expectEnded(port, "timeout");
    });

    it("with one that sends its body byte by byte", async () => {
      const { port } = await receiver((_, response) => {
        response.writeHead(200);
        const drip = setInterval(() => response.write("."), 10);
        response.on("close", () => {
          clearInterval(drip);
        });
      });
      await expectEnded(port, "timeout");
    });

    it("with one that sends its headers byte by byte", async () => {
      const { port } = await peer((socket) => {
        socket.write("HTTP/1.1 200 OK\r\nX-Slow: ");
        const drip = setInterval(() => socket.write("a"), 10);
        socket.on("close", () => {
          clearInterval(drip);
        });
      });
      await expectEnded(port, "timeout");
    });

    it("with one whose headers have no end", async () => {
      const { port } = await peer((socket) => {
        socket.write("HTTP/1.1 200 OK\r\n");
        pump(socket, Buffer.from(`X-Filler: ${"a".repeat(1_000)}\r\n`));
      });
      const result = await senderOf().send(post(`http://receiver.test:${String(port)}/`));
      // The receiver has taken the event, as its status line says.
      const oddity = "Its headers are too long.";
      expect(result).to.include({ outcome: "response", status: 200, oddity });
    });

    it("with one that sends endless interim responses", async () => {
      const { port } = await peer((socket) => {
        pump(socket, Buffer.from("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(100)));
      });
      await expectEnded(port, "protocol");
    });

    it("with one that accepts and never completes the TLS handshake", async () => {
      const { port } = await peer(() => undefined);
      await expectEnded(port, "timeout", "https");
      const limited = senderOf({ limits: { tlsMs: 50 } });
      const result = await limited.send(post(`https://receiver.test:${String(port)}/`));
      expectError(result, "timeout");
      expect(result).to.have.property("message").that.contains("TLS");
    });

    it("with an address that drops packets", async () => {
      // TEST-NET-1 is unassigned: connecting to it hangs, or fails at once without a route.
      const sender = senderOf({
        allowCidrs: ["192.0.2.0/24"],
        resolve: () => Promise.resolve(["192.0.2.1"]),
        // Less than the time after which an operating system gives up.
        limits: { connectMs: 50, totalMs: minute },
      });
      const result = await sender.send(post("https://hole.test/"));
      expect(result).to.have.property("kind").that.is.oneOf(["timeout", "connect"]);
      if ("kind" in result && result.kind === "timeout") {
        expect(result.message).to.contain("accept a connection within 50 ms");
      }
    });
  });

  describe("with a header that HTTP does not allow", () => {
    it("sends nothing, says so, and leaves no timer", async () => {
      const canary = await receiver();
      const timers = () =>
        process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
      const sender = senderOf();
      const request = post(`http://receiver.test:${String(canary.port)}/`);
      const before = timers();
      for (const headers of [{ "x-id": "one\r\ntwo" }, { "x id": "one" }]) {
        const result = await sender.send({ ...request, headers });
        expectError(result, "protocol");
        expect(result).to.have.property("message").that.includes("headers");
      }
      expect(timers()).to.equal(before);
      expect(canary.connections()).to.equal(0);
    });
  });

  describe("reads no more than its limit", () => {
    it("of a body of a gigabyte, and memory stays flat", async () => {
      let written = 0;
      let ended: Promise<unknown> = Promise.resolve();
      const { port } = await receiver((_, response) => {
        response.writeHead(200);
        const chunk = Buffer.alloc(64 * 1_024, "x");
        ended = once(response, "close");
        const more = () => {
          while (written < 1_024 ** 3 && !response.destroyed) {
            written += chunk.byteLength;
            if (!response.write(chunk)) return;
          }
        };
        response.on("drain", more);
        more();
      });
      const before = process.memoryUsage();
      const result = await senderOf().send(post(`http://receiver.test:${String(port)}/`));
      await ended;
      const after = process.memoryUsage();
      expect(result).to.include({
        outcome: "response",
        status: 200,
        bodyExcerpt: "x".repeat(4_096),
      });
      // Only the bytes that the kernel buffers on loopback were written.
      expect(written).to.be.below(32 * 1_024 ** 2);
      expect(after.arrayBuffers - before.arrayBuffers).to.be.below(32 * 1_024 ** 2);
    });

    it("and reads a body of exactly the limit completely, keeping the connection", async () => {
      const { port, connections } = await receiver((_, response) =>
        response.end("y".repeat(64 * 1_024)),
      );
      const sender = senderOf();
      for (let count = 0; count < 2; count += 1) {
        const result = await sender.send(post(`http://receiver.test:${String(port)}/`));
        expect(result).to.include({ outcome: "response", status: 200 });
      }
      expect(connections()).to.equal(1);
    });

    it("and does not decompress a compressed body", async () => {
      const bomb = gzipSync(Buffer.alloc(30 * 1_024 ** 2));
      const { port } = await receiver((_, response) =>
        response.writeHead(200, { "content-encoding": "gzip" }).end(bomb),
      );
      const before = process.memoryUsage().arrayBuffers;
      const result = await senderOf().send(post(`http://receiver.test:${String(port)}/`));
      expect(result).to.include({ outcome: "response", status: 200 });
      expect(result.outcome === "response" ? result.bodyExcerpt.length : 0).to.be.at.most(4_096);
      expect(process.memoryUsage().arrayBuffers - before).to.be.below(5 * 1_024 ** 2);
    });
  });
});

/** Writes the same bytes until the peer closes the connection. */
function pump(socket: NodeJS.WritableStream & { destroyed: boolean }, bytes: Buffer): void {
  const more = () => {
    while (!socket.destroyed && socket.write(bytes));
  };
  socket.on("drain", more);
  more();
}
