// Section 5: the two credentials, sessions and the secrets of keys; invalid and hostile inputs are refused.
import { expect } from "chai";
import { expectProblem } from "../http/problem.ts";
import {
  colleague,
  expectStatus,
  keyOf,
  password,
  register,
  send,
  type Answer,
  type Person,
} from "../support/app.ts";
import { testFields, type, type Json } from "./fields.ts";
import { schemes, type Caller, type World } from "./world.ts";

/** Header and value of each credential, as the seed's table writes them. */
const headersOf = (merchant: { readonly token: string; readonly key: string }) =>
  ({
    "a Bearer JWT": { Authorization: `Bearer ${merchant.token}` },
    "an API key": { "X-Service-Key": merchant.key },
  }) as const;

export function authenticationTests(world: () => World): void {
  describe("a credential", () => {
    let merchant: Awaited<ReturnType<World["merchant"]>>;
    let other: Awaited<ReturnType<World["merchant"]>>;

    before(async () => {
      [merchant, other] = [await world().merchant(), await world().merchant()];
    });

    const get = (
      headers: Readonly<Record<string, string>>,
      organizationId = merchant.organizationId,
    ) => send(world().estate.app.url, "GET", `/v1/organizations/${organizationId}`, { headers });
    const own = () => headersOf(merchant)[world().scheme];
    const login = (person: Person) =>
      world().estate.app.request("POST", "/v1/auth/login", {
        body: { email: person.email, password },
      });
    const post = (path: string, body: object) =>
      world().estate.app.request("POST", `/v1${path}`, { body });

    it("§5 is sent in its header, and opens the organization that it belongs to", async () => {
      const answer = await get(own());
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.body["id"]).to.equal(merchant.organizationId);
    });

    it("§5 Bearer is read in any case, and an access token is a JWT", async () => {
      expect(merchant.token.split(".")).to.have.lengthOf(3);
      for (const word of ["Bearer", "bearer", "BEARER"]) {
        expect((await get({ Authorization: `${word} ${merchant.token}` })).status, word).to.equal(
          200,
        );
      }
    });

    it("§5 in the other's header, under another name, altered or empty is none", async () => {
      const secret = world().scheme === "an API key" ? merchant.key : merchant.token;
      for (const headers of [
        {},
        { Authorization: `Bearer ${merchant.key}` },
        { "X-Service-Key": merchant.token },
        { Authorization: secret },
        { Authorization: `Basic ${secret}` },
        { Authorization: "Bearer" },
        { "X-Service-Key": "" },
        { "X-Api-Key": secret },
        { Authorization: `Bearer ${merchant.token.slice(0, -2)}` },
        { "X-Service-Key": merchant.key.slice(0, -1) },
        { "X-Service-Key": `${merchant.key} ` + merchant.key },
      ]) {
        expectProblem(await get(headers), 401, "unauthenticated");
      }
    });

    it("§5 is one of the two: both at once are refused, good ones too", async () => {
      const { [schemes[0]]: bearer, [schemes[1]]: key } = headersOf(merchant);
      const both = await get({ ...bearer, ...key });
      expectProblem(both, 401, "unauthenticated");
      expect(both.body["detail"]).to.include("one credential");
      expectProblem(await get({ ...bearer, "X-Service-Key": "x" }), 401, "unauthenticated");
      expectProblem(await get({ ...key, Authorization: "Bearer x" }), 401, "unauthenticated");
    });

    it("§5 of another organization finds nothing of this one", async () => {
      expectProblem(await get(headersOf(other)[world().scheme]), 404, "not_found");
      for (const [method, path, body] of [
        ["GET", "/billing/subscription"],
        ["PATCH", "/billing/subscription", { plan: "scale" }],
        ["POST", "/billing/subscription/select", { plan: "growth" }],
        ["POST", "/invoices", { amount: "1.00" }],
      ] as const) {
        const answer = await other.ask(
          method,
          `/organizations/${merchant.organizationId}${path}`,
          body,
        );
        expectProblem(answer, 404, "not_found");
      }
    });

    it("§5 that was revoked is refused on the next request", async () => {
      const { app } = world().estate;
      if (world().scheme === "an API key") {
        const made = await expectStatus(
          merchant.home("POST", "/api-keys", { name: "old", scopes: ["read"] }),
          201,
        );
        const headers = { "X-Service-Key": type.string(made.body["secret"]) };
        expect((await get(headers)).status).to.equal(200);
        await expectStatus(
          merchant.home("POST", `/api-keys/${String(made.body["id"])}/revoke`),
          200,
        );
        expectProblem(await get(headers), 401, "unauthenticated");
        return;
      }
      const member = await colleague(app, merchant, "viewer");
      const session = (await expectStatus(login(member), 200)).body;
      const headers = { Authorization: `Bearer ${type.string(session["accessToken"])}` };
      expect((await get(headers)).status).to.equal(200);
      await expectStatus(post("/auth/logout", { refreshToken: session["refreshToken"] }), 204);
      expectProblem(await get(headers), 401, "unauthenticated");
    });

    it("§5 that lacks a scope or a role is refused with its name, and changes nothing", async () => {
      const { app } = world().estate;
      const isKey = world().scheme === "an API key";
      const deputy = await colleague(app, merchant, "admin");
      const viewer = await colleague(app, merchant, "viewer");
      for (const [method, path, body, credential, lacking] of [
        [
          ...(["POST", "/billing/subscription/select", { plan: "growth" }] as const),
          isKey ? { key: merchant.key } : { token: deputy.token },
          isKey ? "the scope billing; this key has read, write." : "the role owner",
        ],
        [
          ...(["PATCH", "/billing/subscription", { plan: "growth" }] as const),
          isKey ? { key: merchant.key } : { token: deputy.token },
          isKey ? "the scope billing; this key has read, write." : "the role owner",
        ],
        [
          ...(["POST", "/customers", { name: "Customer" }] as const),
          isKey ? { key: await keyOf(app, merchant, "read") } : { token: viewer.token },
          isKey ? "the scope write, shop or customers; this key has read." : "the role member",
        ],
      ] as const) {
        const url = `/v1/organizations/${merchant.organizationId}${path}`;
        const answer = await app.request(method, url, { ...credential, body });
        expectProblem(answer, 403, "forbidden");
        expect(answer.body["detail"]).to.include(lacking);
      }
      const subscription = await merchant.home("GET", "/billing/subscription");
      expectProblem(subscription, 404, "no_subscription");
      expect((await merchant.home("GET", "/customers")).body["data"]).to.deep.equal([]);
    });

    it("§5.2 an API key's secret is answered once, when the key is created", async () => {
      const made = await expectStatus(
        merchant.home("POST", "/api-keys", { name: "once", scopes: ["read"] }),
        201,
      );
      const secret = type.string(made.body["secret"]);
      expect((await get({ "X-Service-Key": secret })).status).to.equal(200);
      const list = await expectStatus(merchant.home("GET", "/api-keys?limit=100"), 200);
      expect(type.array(list.body["data"]).map((key) => type.object(key)["id"])).to.include(
        made.body["id"],
      );
      const revoked = await merchant.home("POST", `/api-keys/${String(made.body["id"])}/revoke`);
      const audited = await merchant.home("GET", "/audit-logs?limit=100");
      for (const { status, text } of [list, revoked, audited]) {
        expect(status).to.equal(200);
        expect(text).not.to.include(secret);
        expect(text).not.to.include('"secret"');
      }
    });

    describe("of a dashboard user", () => {
      let person: Person;
      let session: Json;
      before(async () => {
        person = await register(world().estate.app);
        session = (await expectStatus(login(person), 200)).body;
      });

      testFields(
        "AuthSession",
        [
          ["tokenType", "a string, Bearer", (value) => expect(value).to.equal("Bearer")],
          ["accessToken", "a string", type.string],
          ["refreshToken", "a string", type.string],
        ],
        () => session,
      );

      it("§5.1 comes of a login, which yields a session", async () => {
        const answer = await get(
          { Authorization: `Bearer ${type.string(session["accessToken"])}` },
          person.organizationId,
        );
        expect(answer.status).to.equal(200);
        const wrong = { email: person.email, password: `${password}!` };
        expect((await post("/auth/login", wrong)).status).to.equal(401);
      });

      it("§5.1 is renewed: a refresh token is rotated to obtain a new access token", async () => {
        const { body } = await expectStatus(login(person), 200);
        const { clock } = world().estate;
        clock.advance(1_000);
        const renewed = await expectStatus(
          post("/auth/refresh", { refreshToken: body["refreshToken"] }),
          200,
        );
        expect(renewed.body["refreshToken"]).not.to.equal(body["refreshToken"]);
        expect(renewed.body["accessToken"]).not.to.equal(body["accessToken"]);
        const headers = { Authorization: `Bearer ${type.string(renewed.body["accessToken"])}` };
        expect((await get(headers, person.organizationId)).status).to.equal(200);
        // A refresh token that is used again after its successor counts as stolen: the session ends.
        await expectStatus(
          post("/auth/refresh", { refreshToken: renewed.body["refreshToken"] }),
          200,
        );
        clock.advance(60_000);
        expect(
          (await post("/auth/refresh", { refreshToken: body["refreshToken"] })).status,
        ).to.equal(401);
        expectProblem(await get(headers, person.organizationId), 401, "unauthenticated");
      });

      it("§5.1 ends: a refresh token can be revoked, and renews nothing then", async () => {
        const { body } = await expectStatus(login(person), 200);
        const { refreshToken } = body;
        await expectStatus(post("/auth/logout", { refreshToken }), 204);
        expect((await post("/auth/refresh", { refreshToken })).status).to.equal(401);
      });
    });

    it("§5.3 of a merchant opens no operation of the group Admin, and an admin's no organization of a merchant", async () => {
      const admin: Caller = await world().admin();
      for (const path of ["/admin/organizations", "/admin/operations/status", "/admin/payments"]) {
        expectProblem(await merchant.ask("GET", path), 403, "forbidden");
        expect((await admin.ask("GET", path)).status, path).to.equal(200);
      }
      const answer: Answer = await admin.ask("GET", `/organizations/${merchant.organizationId}`);
      expectProblem(answer, 404, "not_found");
    });
  });
}
