import { expect } from "chai";
import { createIds } from "../../../src/kernel/id.ts";
import { systemRandom } from "../../../src/platform/secrets/tokens.ts";
import { anyServed, approvedMerchant, register, type Person } from "../../support/app.ts";
import { rawExchange } from "../../support/raw-http.ts";
import { expectProblem, withoutRequest } from "../problem.ts";

const requestIdPattern = /^req_[0-9a-z]{26}$/;
const ids = createIds(systemRandom);

anyServed("the request pipeline", (served) => {
  let merchant: Person & { readonly key: string };
  let other: Person;
  let path: string;

  before(async () => {
    merchant = await approvedMerchant(served.app);
    other = await register(served.app, "Bob");
    ({ path } = merchant);
  });

  describe("request ids", () => {
    it("are on every response, whatever its status", async () => {
      const { app } = served;
      const { key } = merchant;
      const text = { "Content-Type": "text/plain" };
      const answers = await Promise.all([
        app.request("GET", path, { key }),
        app.request("GET", "/healthz"),
        app.request("GET", "/docs"),
        app.request("GET", "/nothing"),
        app.request("GET", path),
        app.request("DELETE", path, { key }),
        app.request("PROPFIND", path),
        app.request("OPTIONS", path),
        app.request("HEAD", path, { key }),
        app.request("PATCH", path, { key, raw: "{}", headers: text }),
        app.request("PATCH", path, { key, raw: "x".repeat(262_145) }),
        app.request("PATCH", path, { key, raw: "{" }),
      ]);
      expect(answers.map((answer) => answer.status)).to.deep.equal([
        200, 200, 200, 404, 401, 405, 405, 200, 200, 415, 413, 400,
      ]);
      const given = answers.map((answer) => answer.headers.get("X-Request-Id") ?? "");
      for (const id of given) expect(id).to.match(requestIdPattern);
      expect(new Set(given).size).to.equal(given.length);
    });

    it("are the client's own if it sent a well-formed one", async () => {
      const sane = await served.app.request("GET", "/nothing", {
        headers: { "X-Request-Id": "trace-1.a_B" },
      });
      expect(sane.headers.get("X-Request-Id")).to.equal("trace-1.a_B");
      expectProblem(sane, 404, "not_found");
      for (const junk of ["", " ", "a b", "é", "x".repeat(65), "<script>", "a,b", "a\tb"]) {
        const answer = await rawExchange(served.app.url, {
          target: "/nothing",
          headers: [["X-Request-Id", junk]],
        });
        expect(answer.headers.get("x-request-id"), junk).to.match(requestIdPattern);
      }
      const two = await rawExchange(served.app.url, {
        target: "/healthz",
        headers: [
          ["X-Request-Id", "one"],
          ["X-Request-Id", "two"],
        ],
      });
      expect(two.headers.get("x-request-id")).to.match(requestIdPattern);
    });
  });

  describe("methods", () => {
    it("answers 405 with the methods of the path", async () => {
      for (const method of ["DELETE", "PUT", "POST", "PROPFIND", "TRACE"]) {
        const answer = await rawExchange(served.app.url, { method, target: path });
        expect(answer.status, method).to.equal(405);
        expect(answer.headers.get("allow")).to.equal("HEAD, GET, PATCH");
        expect(JSON.parse(answer.body)).to.include({ code: "method_not_allowed", status: 405 });
      }
      expectProblem(await served.app.request("POST", "/healthz"), 405, "method_not_allowed");
    });

    it("answers 404 for an unknown path, with any method", async () => {
      for (const method of ["GET", "POST", "OPTIONS", "PROPFIND", "DELETE"]) {
        const answer = await served.app.request(method, "/v1/nothing");
        expectProblem(answer, 404, "not_found");
        expect(answer.headers.get("Allow")).to.equal(null);
        if (method === "GET") expect(answer.body["detail"]).to.include("with any credential");
      }
    });

    it("answers 404 for a path in other letter case, which a proxy's rules would not match", async () => {
      const { key } = merchant;
      for (const other of [
        path.replace("/v1", "/V1"),
        path.replace("organizations", "Organizations"),
      ]) {
        expectProblem(await served.app.request("GET", other, { key }), 404, "not_found");
      }
      for (const other of ["/METRICS", "/Healthz", "/V1/admin/operations/status"]) {
        expectProblem(await served.app.request("GET", other), 404, "not_found");
      }
    });

    it("answers HEAD like GET, without a body", async () => {
      const { key } = merchant;
      const [get, head] = [
        await served.app.request("GET", path, { key }),
        await served.app.request("HEAD", path, { key }),
      ];
      expect(head.status).to.equal(200);
      expect(head.text).to.equal("");
      for (const name of ["ETag", "Content-Type", "Content-Length"]) {
        expect(head.headers.get(name), name).to.equal(get.headers.get(name));
      }
      expect((await served.app.request("HEAD", path)).status).to.equal(401);
    });

    it("answers OPTIONS with the methods and allows no other origin", async () => {
      const answer = await served.app.request("OPTIONS", path, {
        headers: { Origin: "https://evil.example", "Access-Control-Request-Method": "PATCH" },
      });
      expect(answer.status).to.equal(200);
      expect(answer.headers.get("Allow")).to.equal("HEAD, GET, PATCH");
      const names = [...answer.headers.keys()].filter((name) => name.startsWith("access-control"));
      expect(names).to.deep.equal([]);
    });
  });

  describe("credentials", () => {
    it("gives every request with an invalid one the same refusal", async () => {
      const { app } = served;
      const wrong = await app.request("GET", path, { key: "junk" });
      expectProblem(wrong, 401, "unauthenticated");
      const cases: Record<string, string>[] = [
        { Authorization: "Bearer a b" },
        { Authorization: "Bearer not-a-token" },
        { Authorization: "Basic dGlsbDp0aWxs" },
        { Authorization: merchant.token },
        { Authorization: `Token ${merchant.token}` },
        { Authorization: `Bearer "${merchant.token}"` },
        { "X-Service-Key": "till_test_" },
        { "X-Service-Key": merchant.key.slice(0, -1) },
        { "X-Service-Key": `${merchant.key}x` },
        { "X-Service-Key": merchant.key.toUpperCase() },
        { "X-Service-Key": merchant.token },
        { "X-Service-Key": "' OR 1=1 --" },
        { "X-Service-Key": "x".repeat(4_000) },
      ];
      for (const headers of cases) {
        const answer = await app.request("GET", path, { headers });
        expect(withoutRequest(answer), JSON.stringify(headers)).to.deep.equal(
          withoutRequest(wrong),
        );
        expect(answer.headers.get("WWW-Authenticate")).to.equal("Bearer");
      }
    });

    it("says that a request has none, or an empty one", async () => {
      for (const headers of [
        {},
        { "X-Service-Key": "" },
        { "X-Service-Key": " " },
        { Authorization: "Bearer" },
        { Authorization: "bearer " },
      ]) {
        const answer = await served.app.request("GET", path, { headers });
        expectProblem(answer, 401, "unauthenticated");
        expect(answer.body["detail"], JSON.stringify(headers)).to.match(
          /^The request has no credential/,
        );
      }
    });

    it("says that an API key sent as an access token belongs in X-Service-Key, valid or not", async () => {
      for (const key of [merchant.key, "till_live_junk", "till_test_"]) {
        const headers = { Authorization: `Bearer ${key}` };
        const answer = await served.app.request("GET", path, { headers });
        expectProblem(answer, 401, "unauthenticated");
        expect(answer.body["detail"]).to.include("Send the key in the X-Service-Key header");
        expect(answer.text).not.to.include(key);
      }
    });

    it("accepts the scheme in any letter case, and refuses two credentials at once", async () => {
      const { app } = served;
      const lower = { Authorization: `bearer ${merchant.token}` };
      expect((await app.request("GET", path, { headers: lower })).status).to.equal(200);
      const both = await app.request("GET", path, { key: merchant.key, token: merchant.token });
      expectProblem(both, 401, "unauthenticated");
      const twice = await rawExchange(app.url, {
        target: path,
        headers: [
          ["X-Service-Key", merchant.key],
          ["X-Service-Key", merchant.key],
        ],
      });
      expect(twice.status).to.equal(401);
    });
  });

  describe("another organization", () => {
    it("is indistinguishable from a missing one, as is a malformed id", async () => {
      const { app } = served;
      const unknown = ids.next("organization", Date.now());
      const places = [
        merchant.organizationId,
        unknown,
        "abc",
        "1",
        "%00",
        "..%2F..",
        `${unknown}%0A`,
        unknown.toUpperCase(),
        "0".repeat(20),
        "%F0%9F%92%A9",
        "a".repeat(3_000),
      ];
      for (const [method, rest, body] of [
        ["GET", "", undefined],
        ["PATCH", "", { name: "Mine" }],
        ["PATCH", "", { nonsense: 1 }],
        ["POST", "/kyb/submit", undefined],
        ["POST", "/api-keys", { name: "k", scopes: ["read"] }],
      ] as const) {
        const answers = await Promise.all(
          places.map((place) =>
            app.request(method, `/v1/organizations/${place}${rest}`, {
              token: other.token,
              ...(body === undefined ? {} : { body }),
            }),
          ),
        );
        for (const [index, answer] of answers.entries()) {
          expectProblem(answer, 404, "not_found");
          expect(withoutRequest(answer), places[index]).to.deep.equal(
            withoutRequest(answers[1] ?? answer),
          );
        }
      }
      const kept = await app.request("GET", path, { key: merchant.key });
      expect(kept.body["name"]).to.equal("Ada's shop");
    });

    it("is hidden from API keys too", async () => {
      const { app } = served;
      const foreign = await app.request("GET", other.path, {
        key: merchant.key,
      });
      const unknown = await app.request(
        "GET",
        `/v1/organizations/${ids.next("organization", Date.now())}`,
        { key: merchant.key },
      );
      expectProblem(foreign, 404, "not_found");
      expect(withoutRequest(foreign)).to.deep.equal(withoutRequest(unknown));
    });

    it("names the filter for a merchant's own id in the place of an invoice's, in any organization", async () => {
      const [own, foreign] = await Promise.all(
        [merchant, other].map(({ organizationId }) =>
          served.app.request("GET", `/v1/organizations/${organizationId}/invoices/order-1`, {
            key: merchant.key,
          }),
        ),
      );
      expect(own?.status).to.equal(404);
      expect(own?.body["detail"]).to.include("?externalId=").and.to.include("?search=");
      expect(foreign?.status).to.equal(404);
    });

    it("has its objects hidden, even below the caller's own organization", async () => {
      const { app } = served;
      const keyOf = async (person: Person) => {
        const made = await app.request("POST", `${person.path}/api-keys`, {
          token: person.token,
          body: { name: "k", scopes: ["read"] },
        });
        return made.body["id"] as string;
      };
      const foreignKey = await keyOf(merchant);
      const base = `${other.path}/api-keys`;
      const [foreign, unknown, junk] = await Promise.all(
        [foreignKey, ids.next("apiKey", Date.now()), "abc"].map((id) =>
          app.request("POST", `${base}/${id}/revoke`, { token: other.token }),
        ),
      );
      if (foreign === undefined || unknown === undefined || junk === undefined) throw new Error();
      expectProblem(foreign, 404, "not_found");
      expect(withoutRequest(foreign)).to.deep.equal(withoutRequest(unknown));
      expect(withoutRequest(junk)).to.deep.equal(withoutRequest(unknown));
      const rows = await app.app.db.all<{ at: number | null }>(
        `SELECT revoked_at AS "at" FROM api_keys WHERE id = $1`,
        [foreignKey],
      );
      expect(rows[0]?.at).to.equal(null);
    });
  });

  describe("odd requests", () => {
    it("answers 403 if the member lacks a permission", async () => {
      const { app } = served;
      const viewer = await register(app, "Vera");
      await app.app.db.write(
        { actor: { type: "system", id: null, label: "test" }, requestId: null, ip: null },
        (tx) =>
          tx.run(
            "INSERT INTO memberships (id, user_id, organization_id, role, created_at) VALUES ($1, $2, $3, 'viewer', 1)",
            [ids.next("membership", 1), viewer.userId, merchant.organizationId],
          ),
      );
      const read = await app.request("GET", path, { token: viewer.token });
      expect(read.status).to.equal(200);
      const write = await app.request("PATCH", path, { token: viewer.token, body: { name: "x" } });
      expectProblem(write, 403, "forbidden");
      expect(write.body["detail"]).to.include("at least the role admin");
    });

    it("survives malformed hosts and targets", async () => {
      const { url } = served.app;
      for (const host of ["[", "a:b@c", "evil.example", "%00", "a b", "x".repeat(300), ""]) {
        const answer = await rawExchange(url, {
          target: path,
          headers: [
            ["Host", host],
            ["X-Service-Key", merchant.key],
          ],
        });
        expect(answer.status, host).to.equal(200);
        expect(answer.body).not.to.include("evil.example");
      }
      const targets = ["//", "/v1//organizations", "*", "http://[/", "http://evil.example/healthz"];
      for (const target of [...targets, "/%", "/?%", "/v1/organizations?%ff", "/\\..\\"]) {
        const answer = await rawExchange(url, { target });
        expect(answer.status, target).to.be.lessThan(500);
      }
    });

    it("links to the explanation of a problem without a host", async () => {
      const answer = await rawExchange(served.app.url, {
        target: "/nothing",
        headers: [["Host", "evil.example"]],
      });
      expect((JSON.parse(answer.body) as { type: string }).type).to.equal(
        "/docs/problems#not_found",
      );
    });

    it("refuses headers that are too long and malformed requests", async () => {
      const { url } = served.app;
      const long = await rawExchange(url, {
        target: "/healthz",
        headers: [["X-Long", "x".repeat(17_000)]],
      });
      expect(long.status).to.equal(431);
      const broken = await rawExchange(url, { target: "/health z" });
      expect(broken.status).to.equal(400);
      const lengths = await rawExchange(url, {
        method: "POST",
        target: "/v1/auth/login",
        headers: [
          ["Content-Length", "2"],
          ["Content-Length", "3"],
        ],
        body: "{}",
      });
      expect(lengths.status).to.equal(400);
      for (const answer of [long, broken, lengths]) {
        expect(answer.headers.get("content-type")).to.match(/^application\/problem\+json/);
        expect(answer.headers.get("x-request-id")).to.match(requestIdPattern);
        expect(JSON.parse(answer.body)).to.include({
          status: answer.status,
          requestId: answer.headers.get("x-request-id"),
        });
      }
      expect((await served.app.request("GET", "/healthz")).status).to.equal(200);
    });

    it("forbids browsers to guess types, frame and cache", async () => {
      for (const target of [path, "/nothing", "/healthz"]) {
        const { headers } = await served.app.request("GET", target, { key: merchant.key });
        expect(headers.get("X-Content-Type-Options")).to.equal("nosniff");
        expect(headers.get("Referrer-Policy")).to.equal("no-referrer");
        expect(headers.get("Content-Security-Policy")).to.include("frame-ancestors 'none'");
        expect(headers.get("Cache-Control")).to.equal("no-store");
      }
    });
  });
});
