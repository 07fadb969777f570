// How answers are sent: compressed, tagged, or as 304, and with no header that the API's document does not declare.
import { expect } from "chai";
import { request, type IncomingMessage } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import {
  anyServed,
  approvedMerchant,
  expectStatus,
  password,
  type Person,
} from "../../support/app.ts";
import { representResponses } from "../../../src/http/representation.ts";
import { describedOperation, expectDeclared } from "../../support/declared.ts";

const decoders = {
  br: (bytes: Buffer) => brotliDecompressSync(bytes).toString("utf8"),
  gzip: (bytes: Buffer) => gunzipSync(bytes).toString("utf8"),
};

/** The answer as it came over the wire: `fetch` would decompress it. */
async function exchange(url: string, method: string, headers: Readonly<Record<string, string>>) {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { method, headers, agent: false }, resolve).on("error", reject).end();
  });
  const bytes = Buffer.concat(await answer.toArray());
  const given = new Headers();
  for (const [name, values = []] of Object.entries(answer.headersDistinct)) {
    for (const value of values) given.append(name, value);
  }
  return { status: answer.statusCode, headers: given, bytes };
}

anyServed(
  "the representation of a response",
  (served) => {
    let merchant: Person & { readonly key: string };
    let home: string;

    before(async () => {
      merchant = await approvedMerchant(served.app);
      home = merchant.path;
      const { key } = merchant;
      for (let n = 0; n < 8; n += 1) {
        const body = { name: `Customer ${String(n)}`, metadata: { note: "x".repeat(200) } };
        await expectStatus(served.app.request("POST", `${home}/customers`, { key, body }), 201);
      }
    });

    const credential = () => ({ "X-Service-Key": merchant.key });
    /** The answer as it came over the wire. */
    const get = (target: string, headers: Readonly<Record<string, string>>, method = "GET") =>
      exchange(served.app.url + target, method, { ...credential(), ...headers });

    it("is compressed with an encoding that the client accepts", async () => {
      const target = `${home}/customers`;
      const plain = await get(target, {});
      expect(plain.headers.get("content-encoding")).to.equal(null);
      expect(plain.headers.get("vary")).to.equal("Accept-Encoding");
      for (const [accepted, encoding] of [
        ["br", "br"],
        ["gzip", "gzip"],
        ["gzip, deflate, br", "br"],
        ["gzip, br;q=0", "gzip"],
        ["*", "br"],
      ] as const) {
        const answer = await get(target, { "Accept-Encoding": accepted });
        expect(answer.headers.get("content-encoding"), accepted).to.equal(encoding);
        expect(answer.headers.get("vary"), accepted).to.equal("Accept-Encoding");
        expect(answer.headers.get("content-length")).to.equal(String(answer.bytes.length));
        expect(answer.bytes.length).to.be.lessThan(plain.bytes.length / 2);
        expect(decoders[encoding](answer.bytes)).to.equal(plain.bytes.toString("utf8"));
      }
      for (const accepted of ["", "identity", "deflate", "zstd", "gzip;q=0", ";;,"]) {
        const answer = await get(target, { "Accept-Encoding": accepted });
        expect(answer.headers.get("content-encoding"), accepted).to.equal(null);
      }
    });

    it("is uncompressed below 1 KiB", async () => {
      const answer = await get(home, { "Accept-Encoding": "br" });
      expect(answer.status).to.equal(200);
      expect(answer.headers.get("content-encoding")).to.equal(null);
      expect(answer.headers.get("vary")).to.equal(null);
    });

    it("has a strong tag per encoding, which gives 304 only for that encoding", async () => {
      for (const target of [`${home}/customers`, "/v1/openapi.json", "/docs/problems"]) {
        const tags = new Set<string>();
        for (const accepted of ["br", "gzip", "identity"]) {
          const asked = { "Accept-Encoding": accepted };
          const first = await get(target, asked);
          const tag = first.headers.get("etag") ?? "";
          expect(tag, target).to.match(/^"[0-9a-f]{32}(-br|-gzip)?"$/);
          tags.add(tag);
          for (const known of [tag, `W/${tag}`, `"other", ${tag}`, "*"]) {
            const again = await get(target, { ...asked, "If-None-Match": known });
            expect(again.status, known).to.equal(304);
            expect(again.headers.get("etag")).to.equal(tag);
            expect(again.headers.get("vary")).to.equal("Accept-Encoding");
            expect(again.bytes.length).to.equal(0);
          }
        }
        expect(tags.size, target).to.equal(3);
        const [compressed = ""] = tags;
        const other = await get(target, { "If-None-Match": compressed });
        expect(other.status).to.equal(200);
      }
    });

    it("answers HEAD with the headers of GET", async () => {
      for (const target of [`${home}/customers`, "/v1/openapi.json", "/docs"]) {
        for (const accepted of ["br", "gzip", "identity"]) {
          const asked = { "Accept-Encoding": accepted };
          const [whole, head] = [await get(target, asked), await get(target, asked, "HEAD")];
          for (const name of ["content-length", "content-encoding", "etag", "vary", "content-type"])
            expect(head.headers.get(name), `${target} ${name}`).to.equal(whole.headers.get(name));
          expect(head.bytes.length).to.equal(0);
        }
      }
    });

    it("accepts the tag of any encoding in If-Match", async () => {
      const { customers } = await customersOf();
      const target = `${home}/customers/${customers[0] ?? ""}`;
      const change = (name: string, tag: string) =>
        served.app.request("PATCH", target, {
          key: merchant.key,
          body: { name, metadata: { note: "y".repeat(500), more: "z".repeat(490) } },
          headers: { "If-Match": tag, "Accept-Encoding": "gzip" },
        });
      const tag = (await expectStatus(change("First", "*"), 200)).headers.get("ETag") ?? "";
      expect(tag).to.match(/-gzip"$/);
      const next = await expectStatus(change("Second", tag.replace("-gzip", "-br")), 200);
      await expectStatus(change("Third", tag), 412);
      await expectStatus(change("Third", `W/${next.headers.get("ETag") ?? ""}`), 200);
    });

    async function customersOf(): Promise<{ customers: readonly string[] }> {
      const { body } = await served.app.request("GET", `${home}/customers`, { key: merchant.key });
      return { customers: (body["data"] as { id: string }[]).map(({ id }) => id) };
    }

    it("is uncompressed if it contains a secret, whatever its length", async () => {
      const { key } = merchant;
      const email = "long@example.com";
      const names = { name: "名".repeat(120), organizationName: "店".repeat(120) };
      const account = { body: { email, password, ...names } };
      await expectStatus(served.app.request("POST", "/v1/auth/register", account), 201);
      const session = { email, password };
      const headers = { "Accept-Encoding": "br" };
      const answers = await Promise.all([
        served.app.request("POST", "/v1/auth/login", { body: session, headers }),
        served.app.request("POST", `${home}/api-keys`, {
          key,
          body: { name: "k".repeat(80), scopes: ["read"] },
          headers,
        }),
      ]);
      expect(Buffer.byteLength(answers[0].text)).to.be.greaterThan(1_024);
      for (const answer of answers) {
        expect(answer.status, answer.text).to.be.oneOf([200, 201]);
        expect(answer.headers.get("Content-Encoding")).to.equal(null);
        expect(answer.headers.get("Vary")).to.equal(null);
      }
    });

    it("is compressed for problems, pages, scripts and styles", async () => {
      const asked = { "Accept-Encoding": "gzip" };
      const query = Array.from({ length: 40 }, (_, n) => `nonsense${String(n)}=1`).join("&");
      for (const [target, status] of [
        [`${home}/customers?${query}`, 400],
        ["/docs/manual.js", 200],
        ["/docs/manual.css", 200],
        ["/docs/problems", 200],
      ] as const) {
        const answer = await get(target, asked);
        expect(answer.status, target).to.equal(status);
        expect(answer.headers.get("content-encoding"), target).to.equal("gzip");
        expect(decoders.gzip(answer.bytes).length).to.be.greaterThan(answer.bytes.length);
      }
    });
  },
  { background: false },
);

anyServed(
  "the headers of a response",
  (served) => {
    let merchant: Person & { readonly key: string };
    before(async () => {
      merchant = await approvedMerchant(served.app);
    });

    const namesOf = (method: string, path: string, status: number) =>
      Object.keys(describedOperation(method, path)?.responses[String(status)]?.headers ?? {});

    it("match the document's declaration for the operation and status", async () => {
      const { key, organizationId } = merchant;
      const home = `/v1/organizations/${organizationId}`;
      const limits = ["ratelimit", "ratelimit-policy"];
      const body = { name: "Customer" };
      const headers = { "Idempotency-Key": "twice" };
      const calls = [
        ["GET", home, { key }, 200, ["etag", ...limits]],
        ["GET", home, { key, headers: { "If-None-Match": "*" } }, 304, ["etag", ...limits]],
        ["GET", `${home}/customers`, { key }, 200, ["etag", ...limits]],
        ["GET", home, {}, 401, ["www-authenticate"]],
        ["POST", `${home}/customers`, { key, body, headers }, 201, limits],
        ["POST", `${home}/customers`, { key, body, headers }, 201, ["idempotent-replayed"]],
        ["PATCH", home, { key, body: {}, headers: { "If-Match": '"x"' } }, 412, limits],
        ["GET", `${home}/customers?limit=0`, { key }, 400, limits],
        ["POST", "/v1/auth/login", { body: { email: "a@b.example", password } }, 401, limits],
      ] as const;
      for (const [method, path, options, status, sent] of calls) {
        // Each answer that `request` gives has gone through `expectDeclared`.
        const answer = await expectStatus(served.app.request(method, path, options), status);
        for (const name of sent) {
          expect(answer.headers.has(name), `${method} ${path} ${name}`).to.equal(true);
          expect(namesOf(method, path, status), `${method} ${path}`).to.include(name);
        }
      }
      // A credential's requests are counted once it is known.
      expect(namesOf("GET", home, 401)).not.to.include("ratelimit");
      expect(namesOf("POST", "/v1/auth/login", 401)).to.include("ratelimit");
      expect(namesOf("GET", home, 429)).to.include("retry-after");
      expect(namesOf("GET", home, 200)).not.to.include("idempotent-replayed");
      expect(namesOf("POST", `${home}/api-keys`, 201)).not.to.include("content-encoding");
    });

    it("fail the check if they are undeclared or a required one is missing", () => {
      const { path } = merchant;
      const required = Object.fromEntries(namesOf("GET", path, 200).map((name) => [name, "x"]));
      const answer = (status: number, headers: Record<string, string>) => () => {
        expectDeclared("GET", path, { status, headers: new Headers(headers) });
      };
      expect(answer(200, required)).not.to.throw();
      expect(answer(200, { ...required, "X-New": "1" })).to.throw("header x-new");
      expect(answer(200, { ...required, "Retry-After": "1" })).to.throw("header retry-after");
      expect(answer(418, required)).to.throw("418, which is not declared");
      const { etag: _etag, ...untagged } = required;
      expect(answer(200, untagged)).to.throw("without the header etag");
    });
  },
  { background: false, settings: { TILL_RATE_LIMIT_SCALE: "10" } },
);

describe("a compressed form that is kept", () => {
  for (const encoding of ["br", "gzip"] as const) {
    it(`takes no more memory than its length, with ${encoding}`, async () => {
      const forms: { br?: Buffer; gzip?: Buffer } = {};
      const ctx = {
        method: "GET",
        status: 200,
        type: "application/json",
        length: 2_000,
        body: "x".repeat(2_000) as unknown,
        state: { forms },
        res: { getHeader: () => undefined },
        get: (name: string) => (name === "Accept-Encoding" ? encoding : ""),
        acceptsEncodings: (of: string) => of === encoding,
        set: () => undefined,
        vary: () => undefined,
      };
      await representResponses()(ctx as never, () => Promise.resolve());
      const kept = forms[encoding];
      expect(ctx.body).to.equal(kept);
      expect(decoders[encoding](kept ?? Buffer.alloc(0))).to.equal("x".repeat(2_000));
      expect(kept?.buffer.byteLength).to.equal(kept?.length);
    });
  }
});
