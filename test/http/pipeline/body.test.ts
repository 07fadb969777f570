import { expect } from "chai";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from "node:zlib";
import { anyServed, register, type Person, type RequestOptions } from "../../support/app.ts";
import { rawExchange } from "../../support/raw-http.ts";
import { expectProblem, pointersOf } from "../problem.ts";
import { cpuMs } from "../../support/cpu-time.ts";
import { patienceMs } from "../../support/until.ts";

const json = { "Content-Type": "application/json" };
const kibibyte = 1_024;
const bodyMax = 256 * kibibyte;

interface Described {
  readonly requestBody?: { readonly required?: boolean };
}

anyServed("the body of a request", (served) => {
  let person: Person;
  let path: string;

  before(async () => {
    person = await register(served.app);
    ({ path } = person);
  });

  const patch = (options: RequestOptions) =>
    served.app.request("PATCH", path, { token: person.token, ...options });

  it("may be omitted if no field is required, and the document says so", async () => {
    const { body: document } = await served.app.request("GET", "/v1/openapi.json");
    const paths = document["paths"] as Record<string, Record<string, Described>>;
    const optional = Object.entries(paths).flatMap(([target, { post }]) =>
      post?.requestBody?.required === false ? [target] : [],
    );
    expect(optional).to.include(
      "/organizations/{organizationId}/webhook-endpoints/{webhookEndpointId}/rotate-secret",
    );
    for (const target of optional) {
      const url = `/v1${target}`
        .replace("{organizationId}", person.organizationId)
        .replace("{webhookEndpointId}", `wep_${"0".repeat(26)}`);
      const answer = await served.app.request("POST", url, { token: person.token });
      expectProblem(answer, 404, "not_found");
    }
    expectProblem(await patch({}), 400, "invalid_request");
    const { token } = person;
    expectProblem(
      await served.app.request("POST", `${path}/customers`, { token }),
      400,
      "invalid_request",
    );
  });

  describe("content types", () => {
    it("must have a JSON content type", async () => {
      for (const type of [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/xml",
        "application/vnd.api+json",
        "application/jsonp",
        "json",
        "",
        "application/json, text/plain",
      ]) {
        const answer = await patch({ raw: '{"name":"x"}', headers: { "Content-Type": type } });
        expectProblem(answer, 415, "unsupported_media_type");
      }
      for (const type of ["application/json; charset=utf-8", "Application/JSON"]) {
        const answer = await patch({ raw: '{"name":"x"}', headers: { "Content-Type": type } });
        expect(answer.status, type).to.equal(200);
      }
    });

    it("must be UTF-8 and is kept exactly as sent", async () => {
      const bytes = (...parts: readonly (string | readonly number[])[]) =>
        Buffer.concat(
          parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.from(part))),
        );
      for (const [name, broken] of [
        ["a byte alone", [0xff]],
        ["Latin-1", [0x63, 0x61, 0x66, 0xe9]],
        ["cut short", [0xe2, 0x82]],
        ["longer than need be", [0xc0, 0xaf]],
        ["half a pair", [0xed, 0xa0, 0x80]],
        ["beyond Unicode", [0xf4, 0x90, 0x80, 0x80]],
      ] as const) {
        const answer = await patch({ raw: bytes('{"name":"a', broken, 'b"}'), headers: json });
        expectProblem(answer, 400, "invalid_request");
        const key = await patch({ raw: bytes('{"n', broken, '":"a"}'), headers: json });
        expect(key.status, name).to.equal(400);
      }
      for (const name of ["café", "\ufffd stays", "💩 ﷽ 中文", "¡ÿ", "plain"]) {
        const answer = await patch({ raw: Buffer.from(JSON.stringify({ name })), headers: json });
        expect(answer.body["name"], name).to.equal(name);
        const zipped = gzipSync(Buffer.from(JSON.stringify({ name })));
        const packed = await patch({
          raw: zipped,
          headers: { ...json, "Content-Encoding": "gzip" },
        });
        expect(packed.body["name"], name).to.equal(name);
      }
      const escaped = await patch({ raw: '{"name":"a\\u0000"}', headers: json });
      expect(pointersOf(escaped)).to.deep.equal(["/name"]);
      const half = await patch({ raw: '{"name":"\\ud800é"}', headers: json });
      expect(pointersOf(half)).to.deep.equal(["/name"]);
    });

    it("is required by operations that read one", async () => {
      expectProblem(await patch({}), 400, "invalid_request");
      expectProblem(await patch({ headers: json }), 400, "invalid_request");
      expectProblem(await served.app.request("POST", "/v1/auth/login"), 400, "invalid_request");
    });

    it("is refused by operations that take none", async () => {
      const submit = `${path}/kyb/submit`;
      const { token } = person;
      const answer = await served.app.request("POST", submit, { token, body: { note: "x" } });
      expect(pointersOf(answer)).to.deep.equal(["/note"]);
      const text = { "Content-Type": "text/plain" };
      expectProblem(
        await served.app.request("POST", submit, { token, raw: "hello", headers: text }),
        415,
        "unsupported_media_type",
      );
      for (const options of [{}, { headers: json }, { body: {} }]) {
        const missing = await served.app.request("POST", submit, { token, ...options });
        expectProblem(missing, 422, "kyb_incomplete");
      }
      const get = await rawExchange(served.app.url, {
        target: path,
        headers: [
          ["Authorization", `Bearer ${token}`],
          ["Content-Type", "application/json"],
          ["Content-Length", "2"],
        ],
        body: "{}",
      });
      expect(get.status).to.equal(400);
    });

    it("is refused if it is not JSON or not an object", async () => {
      for (const raw of [
        "{",
        "{'a':1}",
        "{a:1}",
        "NaN",
        "undefined",
        "[1,]",
        '{"a":1}}',
        "\u0000",
      ]) {
        expectProblem(await patch({ raw }), 400, "invalid_request");
      }
      for (const raw of ["null", "1", '"x"', "[]", "true", '""']) {
        expect(pointersOf(await patch({ raw })), raw).to.deep.equal([""]);
      }
      expectProblem(
        await patch({ raw: new Uint8Array([0x7b, 0xff, 0x7d]) }),
        400,
        "invalid_request",
      );
    });

    it("may be gzip; unknown encodings and corrupt data are refused", async () => {
      const gzip = { ...json, "Content-Encoding": "gzip" };
      const good = await patch({ raw: gzipSync('{"name":"zipped"}'), headers: gzip });
      expect(good.body["name"]).to.equal("zipped");
      const unknown = { ...json, "Content-Encoding": "zstd" };
      expectProblem(await patch({ raw: "{}", headers: unknown }), 415, "unsupported_media_type");
      const cut = gzipSync('{"name":"cut"}').subarray(0, 20);
      for (const raw of [cut, "{}"]) {
        expectProblem(await patch({ raw, headers: gzip }), 400, "invalid_request");
      }
    });
  });

  describe("bytes", () => {
    const headOf = (headers: string) =>
      `PATCH ${path} HTTP/1.1\r\nHost: till\r\nConnection: close\r\nAuthorization: Bearer ${person.token}\r\nContent-Type: application/json\r\n${headers}\r\n\r\n`;

    /** Sends a request in parts, each once the server serves another request, and returns what it answered. */
    async function sendSlowly(
      parts: readonly (string | Uint8Array)[],
      isCutOff = false,
    ): Promise<string> {
      const { hostname, port } = new URL(served.app.url);
      const socket = connect(Number(port), hostname);
      const closed = once(socket, "close");
      const received: Buffer[] = [];
      socket.on("data", (part) => received.push(part));
      // The server may close the connection before it has read everything.
      socket.on("error", () => undefined);
      for (const part of parts) {
        socket.write(part);
        expect((await served.app.request("GET", "/healthz")).status).to.equal(200);
      }
      if (isCutOff) socket.end();
      await closed;
      return Buffer.concat(received).toString("utf8");
    }

    const nameNow = async () =>
      (await served.app.request("GET", path, { token: person.token })).body["name"];

    it("may begin with a byte order mark, and say a name twice, whose last value counts", async () => {
      const marked = await patch({ raw: Buffer.from('\ufeff{"name":"marked"}'), headers: json });
      expect(marked.body["name"]).to.equal("marked");
      const twice = await patch({ raw: '{"name":"first","name":"last"}' });
      expect(twice.body["name"]).to.equal("last");
    });

    it("may say no name that JavaScript would take for another, wherever it is", async () => {
      expect(pointersOf(await patch({ raw: '{"__proto__":{"name":"x"}}' }))).to.deep.equal([
        "/__proto__",
      ]);
      expect(pointersOf(await patch({ raw: '{"name":"\u00e9","__proto__":{}}' }))).to.deep.equal([
        "/__proto__",
      ]);
      expect((await patch({ raw: '{"constructor":1}' })).status).to.equal(400);
    });

    it("is missing if it is empty, with a length and in chunks", async () => {
      const length = await sendSlowly([headOf("Content-Length: 0")]);
      expect(length)
        .to.match(/^HTTP\/1\.1 400 /)
        .and.include("requires a JSON body");
      const chunks = await sendSlowly([headOf("Transfer-Encoding: chunked"), "0\r\n\r\n"]);
      expect(chunks)
        .to.match(/^HTTP\/1\.1 400 /)
        .and.include('"pointer":""');
    });

    it("may arrive slowly and in pieces, even of a character", async () => {
      const name = Buffer.from('{"name":"caf\u00e9 \u{1f4a9}"}');
      const pieces = Array.from(name, (byte) => Buffer.of(byte));
      const head = headOf(`Content-Length: ${String(name.length)}`);
      expect(await sendSlowly([head, ...pieces])).to.match(/^HTTP\/1\.1 200 /);
      expect(await nameNow()).to.equal("caf\u00e9 \u{1f4a9}");
      const chunks = pieces.map((piece) =>
        Buffer.concat([Buffer.from("1\r\n"), piece, Buffer.from("\r\n")]),
      );
      const chunked = await sendSlowly([
        headOf("Transfer-Encoding: chunked"),
        ...chunks,
        "0\r\n\r\n",
      ]);
      expect(chunked).to.match(/^HTTP\/1\.1 200 /);
    });

    it("changes nothing if it is cut off, and the server goes on", async () => {
      expect((await patch({ raw: '{"name":"before"}' })).status).to.equal(200);
      for (const parts of [
        [headOf("Content-Length: 40"), '{"name":"cut"}'],
        [headOf("Transfer-Encoding: chunked"), 'e\r\n{"name":"cut"}\r\n'],
        [headOf("Content-Length: 40\r\nContent-Encoding: gzip"), gzipSync('{"name":"cut"}')],
      ]) {
        expect(await sendSlowly(parts, true)).not.to.match(/^HTTP\/1\.1 2/);
        expect(await nameNow()).to.equal("before");
      }
    });
  });

  describe("size", () => {
    const filled = (bytes: number) => {
      const start = '{"businessDescription":"';
      return `${start}${"x".repeat(bytes - start.length - 2)}"}`;
    };

    it("may have 256 KiB and not one byte more", async () => {
      expect(pointersOf(await patch({ raw: filled(bodyMax) }))).to.deep.equal([
        "/businessDescription",
      ]);
      expectProblem(await patch({ raw: filled(bodyMax + 1) }), 413, "payload_too_large");
    });

    it("counts chunked bodies without a length", async () => {
      const text = filled(bodyMax + 1);
      const chunk = (part: string) => `${part.length.toString(16)}\r\n${part}\r\n`;
      const send = (size: number, end: string) =>
        rawExchange(served.app.url, {
          method: "PATCH",
          target: path,
          headers: [
            ["Authorization", `Bearer ${person.token}`],
            ["Content-Type", "application/json"],
            ["Transfer-Encoding", "chunked"],
          ],
          body: `${chunk(text.slice(0, size))}${end}`,
        });
      expect((await send(bodyMax + 1, "0\r\n\r\n")).status).to.equal(413);
      // Cut short it is not JSON, but it is small enough to be read.
      expect((await send(1_000, "0\r\n\r\n")).status).to.equal(400);
    });

    const unpackedMib = 200;

    it("counts the unpacked size, and the connection's next request is served", async () => {
      const mebibyte = Buffer.alloc(kibibyte * kibibyte, 32);
      // Packed in pieces, so that memory was never as large as what it unpacks to.
      const pieces = Readable.from(Array.from({ length: unpackedMib }, () => mebibyte));
      const bomb = await buffer(pieces.pipe(createGzip()));
      expect(bomb.byteLength).to.be.lessThan(bodyMax);
      const before = process.memoryUsage().rss;
      const statuses = await onOneConnection(served.app.url, [
        { path, token: person.token, body: bomb, encoding: "gzip" },
        { path, token: person.token, body: Buffer.from(filled(bodyMax + 10)) },
        { path, token: person.token, body: Buffer.from('{"name":"after"}') },
      ]);
      expect(statuses).to.deep.equal([413, 413, 200]);
      expect(process.memoryUsage().rss - before).to.be.lessThan(
        (unpackedMib / 2) * kibibyte * kibibyte,
      );
    });

    it("counts the unpacked size in every encoding", async () => {
      const unpacked = Buffer.alloc(2 * kibibyte * kibibyte, 32);
      for (const [encoding, packed] of [
        ["deflate", deflateSync(unpacked)],
        ["br", brotliCompressSync(unpacked)],
      ] as const) {
        expect(packed.byteLength, encoding).to.be.lessThan(bodyMax);
        const answer = await patch({
          raw: packed,
          headers: { ...json, "Content-Encoding": encoding },
        });
        expectProblem(answer, 413, "payload_too_large");
      }
    });

    it("is refused without waiting for the rest of an oversized body", async () => {
      // The rest never comes: a server that waits for it answers 408 in the end.
      const answer = await rawExchange(served.app.url, {
        method: "PATCH",
        target: path,
        headers: [
          ["Authorization", `Bearer ${person.token}`],
          ["Content-Type", "application/json"],
          ["Content-Length", "10000000000"],
        ],
        body: "{",
      });
      expect(answer.status).to.equal(413);
    });
  });

  describe("depth", () => {
    const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
    const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;

    it("may have 32 levels, and the problem names the field that is deeper", async () => {
      const codes = async (raw: string) =>
        expectProblem(await patch({ raw }), 400, "invalid_request").map(({ code }) => code);
      expect(await codes(objects(32))).to.deep.equal(["unknown_field"]);
      expect(await codes(objects(33))).to.deep.equal(["too_deep"]);
      expect(await codes(nested(32))).to.deep.equal(["invalid_type"]);
      expect(await codes(nested(33))).to.deep.equal(["too_deep"]);
      expect(await codes(`{"name":${nested(32)}}`)).to.deep.equal(["too_deep"]);
    });

    it("survives a body with 100,000 levels", async () => {
      for (const raw of [nested(100_000), objects(40_000), "[".repeat(bodyMax)]) {
        const times: number[] = [];
        for (let count = 0; count < 3; count += 1) {
          const before = cpuMs();
          expectProblem(await patch({ raw }), 400, "invalid_request");
          times.push(cpuMs() - before);
        }
        expect((await served.app.request("GET", "/healthz")).status).to.equal(200);
        // The best of them, because the first ones are compiled meanwhile.
        expect(Math.min(...times)).to.be.lessThan(200);
      }
    });
  });
});

/** Sends PATCH requests one after the other over one connection that is kept; gives their statuses. */
async function onOneConnection(
  url: string,
  requests: readonly {
    readonly path: string;
    readonly token: string;
    readonly body: Buffer;
    readonly encoding?: string;
  }[],
): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const statuses: number[] = [];
  const sockets = new Set<unknown>();
  for (const { path, token, body, encoding } of requests) {
    statuses.push(
      await new Promise<number>((resolve, reject) => {
        const sent = request(url + path, {
          method: "PATCH",
          agent,
          timeout: patienceMs,
          headers: {
            Authorization: `Bearer ${token}`,
            "Content-Type": "application/json",
            "Content-Length": body.byteLength,
            ...(encoding === undefined ? {} : { "Content-Encoding": encoding }),
          },
        });
        sent.on("socket", (socket) => sockets.add(socket));
        sent.on("timeout", () => sent.destroy(new Error("no answer in time")));
        sent.on("error", reject);
        sent.on("response", (response) => {
          response.resume();
          response.on("end", () => {
            resolve(response.statusCode ?? 0);
          });
        });
        sent.end(body);
      }),
    );
  }
  agent.destroy();
  expect(sockets.size, "connections").to.equal(1);
  return statuses;
}
