import { expect } from "chai";
import {
  createIdempotency,
  pruneResponses,
  type IdempotentRequest,
} from "../../../src/http/pipeline/idempotency.ts";
import { hour, minute } from "../../../src/kernel/clock.ts";
import {
  approvedMerchant,
  eachServed,
  password,
  register,
  startApp,
  type Answer,
  type Merchant,
  type TestApp,
} from "../../support/app.ts";
import { movingClock } from "../../support/clock.ts";
import { countRows, dumpStore } from "../../support/store/dump.ts";
import { rawExchange } from "../../support/raw-http.ts";
import type { WriteContext } from "../../../src/platform/database/database.ts";
import { idempotencyKeys } from "../../../src/platform/idempotency.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";
import { expectProblem } from "../problem.ts";

let made = 0;

/** A key that no test has used. */
function freshKey(): string {
  made += 1;
  return `order-${String(made)}-${String(Date.now())}`;
}

function found(app: TestApp, merchant: Merchant, key: string, name = "Twice"): Promise<Answer> {
  return app.request("POST", "/v1/organizations", {
    key: merchant.key,
    body: { name },
    headers: { "Idempotency-Key": key },
  });
}

function organizationsNamed(app: TestApp, name: string): Promise<number> {
  return countRows(app.app.db, "organizations", "WHERE name = $1", [name]);
}

eachServed("a repeated request", (served) => {
  let merchant: Merchant;

  before(async () => {
    merchant = await approvedMerchant(served.app);
  });

  it("has one effect and one response, 64 times in sequence and at once", async () => {
    const { app } = served;
    for (const [name, send] of [
      [
        "In turn",
        async (once: () => Promise<Answer>) => {
          const answers: Answer[] = [];
          for (let n = 0; n < 64; n += 1) answers.push(await once());
          return answers;
        },
      ],
      ["At once", (once: () => Promise<Answer>) => Promise.all(Array.from({ length: 64 }, once))],
    ] as const) {
      const key = freshKey();
      const answers = await send(() => found(app, merchant, key, name));
      expect(new Set(answers.map(({ status, text }) => `${String(status)} ${text}`)).size).to.equal(
        1,
      );
      expect(answers[0]?.status).to.equal(201);
      const replayed = answers.filter(
        ({ headers }) => headers.get("Idempotent-Replayed") === "true",
      );
      expect(replayed.length).to.equal(63);
      expect(await organizationsNamed(app, name)).to.equal(1);
    }
  });

  it("is distinguished from another request with the same key", async () => {
    const { app } = served;
    const key = freshKey();
    const first = await found(app, merchant, key, "First");
    const second = await found(app, merchant, key, "Second");
    expectProblem(second, 422, "idempotency_key_reused");
    expect(second.body["detail"]).to.match(/for this path with another body\. .* use a new key\.$/);
    expect(await organizationsNamed(app, "Second")).to.equal(0);
    const again = await found(app, merchant, key, "First");
    expect(again.text).to.equal(first.text);
    // The order of fields and white space do not matter.
    const raw = await app.request("POST", "/v1/organizations", {
      key: merchant.key,
      raw: ' { "name" : "First" } ',
      headers: { "Idempotency-Key": key },
    });
    expect(raw.text).to.equal(first.text);
  });

  it("is refused for another path, which the refusal names if the path of the first request is stored", async () => {
    const { app } = served;
    const person = await register(app);
    const second = await app.request("POST", "/v1/organizations", {
      token: person.token,
      body: { name: "Second shop" },
    });
    const key = freshKey();
    const send = (organizationId: unknown, name = "Reader") =>
      app.request("POST", `/v1/organizations/${String(organizationId)}/api-keys`, {
        token: person.token,
        body: { name, scopes: ["read"] },
        headers: { "Idempotency-Key": key },
      });
    expect((await send(person.organizationId)).status).to.equal(201);
    const elsewhere = await send(second.body["id"]);
    expectProblem(elsewhere, 422, "idempotency_key_reused");
    expect(elsewhere.body["detail"]).to.include("for another path or query.");
    // Earlier versions stored no path.
    await app.app.db.write(testContext, async (tx) => {
      for (const { claim, fingerprint } of await tx.find(idempotencyKeys, "")) {
        const [earlier = ""] = fingerprint.split(" ");
        await tx.update(idempotencyKeys, { fingerprint: earlier }, "WHERE claim = $1", [claim]);
      }
    });
    const earlier = await send(second.body["id"]);
    expectProblem(earlier, 422, "idempotency_key_reused");
    expect(earlier.body["detail"]).to.include("for another request.");
    expect((await send(person.organizationId)).body["name"]).to.equal("Reader");
  });

  it("has one winner and no server error when different requests race for a key", async () => {
    const { app } = served;
    const key = freshKey();
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) => found(app, merchant, key, `Race ${String(n % 3)}`)),
    );
    const won = answers.filter(({ status }) => status === 201);
    expect(new Set(won.map(({ text }) => text)).size).to.equal(1);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expectProblem(answer, 422, "idempotency_key_reused");
    }
    const counts = await Promise.all(
      [0, 1, 2].map((n) => organizationsNamed(app, `Race ${String(n)}`)),
    );
    expect(counts.sort()).to.deep.equal([0, 0, 1]);
  });

  it("is separate for each principal and each operation", async () => {
    const { app } = served;
    const key = freshKey();
    const other = await approvedMerchant(app);
    const mine = await found(app, merchant, key, "Mine");
    const theirs = await found(app, other, key, "Mine");
    expect(theirs.status).to.equal(201);
    expect(theirs.headers.get("Idempotent-Replayed")).to.equal(null);
    expect(theirs.body["id"]).not.to.equal(mine.body["id"]);
    const asUser = await app.request("POST", "/v1/organizations", {
      token: merchant.token,
      body: { name: "Mine" },
      headers: { "Idempotency-Key": key },
    });
    expect(asUser.body["id"]).not.to.equal(mine.body["id"]);
    const keyMade = await app.request("POST", `${merchant.path}/api-keys`, {
      key: merchant.key,
      body: { name: "k", scopes: ["read"] },
      headers: { "Idempotency-Key": key },
    });
    expect(keyMade.status).to.equal(201);
  });

  it("may be corrected after a refusal, which is not stored", async () => {
    const { app } = served;
    const person = await register(app);
    const key = freshKey();
    const submit = () =>
      app.request("POST", `${person.path}/kyb/submit`, {
        token: person.token,
        headers: { "Idempotency-Key": key },
      });
    expectProblem(await submit(), 422, "kyb_incomplete");
    await app.request("PATCH", person.path, {
      token: person.token,
      body: {
        legalName: "L",
        registrationNumber: "1",
        country: "DE",
        address: "a",
        contactEmail: "a@b.example",
        businessDescription: "b",
      },
    });
    const submitted = await submit();
    expect(submitted.status).to.equal(200);
    expect(submitted.headers.get("Idempotent-Replayed")).to.equal(null);
    // Without the key the second submission would be a conflict.
    const replayed = await submit();
    expect(replayed.text).to.equal(submitted.text);
    expect(replayed.headers.get("Idempotent-Replayed")).to.equal("true");

    const bad = freshKey();
    expectProblem(await found(app, merchant, bad, ""), 400, "invalid_request");
    expect((await found(app, merchant, bad, "Good")).status).to.equal(201);
  });

  it("refuses malformed keys", async () => {
    const { app } = served;
    const post = (headers: readonly (readonly [string, string])[]) =>
      rawExchange(app.url, {
        method: "POST",
        target: "/v1/organizations",
        headers: [
          ["X-Service-Key", merchant.key],
          ["Content-Type", "application/json"],
          ["Content-Length", "17"],
          ...headers,
        ],
        body: '{"name":"Forms "}',
      });
    const name = "Idempotency-Key";
    for (const headers of [
      [[name, ""]],
      [[name, "x".repeat(256)]],
      [[name, "a\tb"]],
      [[name, "caf\u00e9"]],
      [
        [name, "a"],
        [name, "b"],
      ],
      [
        [name, "a"],
        [name, "a"],
      ],
    ] as const) {
      const answer = await post(headers);
      expect(answer.status, JSON.stringify(headers)).to.equal(400);
      expect(JSON.parse(answer.body)).to.deep.include({ code: "invalid_request" });
      const { errors } = JSON.parse(answer.body) as { errors: { header: string }[] };
      expect(errors.map(({ header }) => header)).to.deep.equal([name]);
    }
    // Node refuses these before anybody reads them.
    for (const key of ["a\u0000b", "a\u007fb", "a\u0001"]) {
      expect((await post([[name, key]])).status).to.equal(400);
    }
    expect(await organizationsNamed(app, "Forms")).to.equal(0);
    expect((await post([[name, "x".repeat(255)]])).status).to.equal(201);
    expect((await post([[name, "one, two"]])).status).to.equal(201);
  });

  it("returns a secret again that the store does not hold in plain text", async () => {
    const { app } = served;
    const key = "1";
    const create = (name = "sealed") =>
      app.request("POST", `${merchant.path}/api-keys`, {
        key: merchant.key,
        body: { name, scopes: ["read"] },
        headers: { "Idempotency-Key": key },
      });
    const first = await create();
    const secret = first.body["secret"] as string;
    expect(secret).to.match(/^till_test_/);
    const answers = await Promise.all(Array.from({ length: 10 }, () => create()));
    for (const answer of answers) {
      expect(answer.text).to.equal(first.text);
      expect(answer.headers.get("Idempotent-Replayed")).to.equal("true");
    }
    expectProblem(await create("other"), 422, "idempotency_key_reused");
    const dump = await dumpStore(app.app.db);
    expect(dump).not.to.include(secret);
    expect(dump).not.to.include(secret.slice(20));
    expect(dump).to.include("sealed");
  });

  it("is ignored by the four operations that issue sessions", async () => {
    const { app } = served;
    const person = await register(app);
    const headers = { "Idempotency-Key": freshKey() };
    const login = () =>
      app.request("POST", "/v1/auth/login", { body: { email: person.email, password }, headers });
    const [one, two] = [await login(), await login()];
    expect(two.body["refreshToken"]).not.to.equal(one.body["refreshToken"]);
    const junk = { "Idempotency-Key": "x".repeat(300) };
    const refreshed = await app.request("POST", "/v1/auth/refresh", {
      body: { refreshToken: one.body["refreshToken"] },
      headers: junk,
    });
    expect(refreshed.status).to.equal(200);
    const again = await app.request("POST", "/v1/auth/register", {
      body: { email: person.email, password, name: "A", organizationName: "B" },
      headers,
    });
    expectProblem(again, 409, "email_unavailable");
    const out = { body: { refreshToken: two.body["refreshToken"] }, headers };
    expect((await app.request("POST", "/v1/auth/logout", out)).status).to.equal(204);
    expect((await app.request("POST", "/v1/auth/logout", out)).status).to.equal(204);
  });

  it("requires a valid credential before a response is repeated", async () => {
    const { app } = served;
    const person = await approvedMerchant(app);
    const key = freshKey();
    expect((await found(app, person, key)).status).to.equal(201);
    await app.app.db.write(testContext, (tx) =>
      tx.run("UPDATE api_keys SET revoked_at = 1 WHERE organization_id = $1", [
        person.organizationId,
      ]),
    );
    expectProblem(await found(app, person, key), 401, "unauthenticated");
  });

  it("ignores the key if the method is idempotent anyway", async () => {
    const { app } = served;
    const { path } = merchant;
    const headers = { "Idempotency-Key": freshKey() };
    for (const name of ["One", "Two"]) {
      const answer = await app.request("PATCH", path, {
        key: merchant.key,
        body: { name },
        headers,
      });
      expect(answer.body["name"]).to.equal(name);
    }
    expect((await app.request("GET", path, { key: merchant.key, headers })).status).to.equal(200);
  });
});

eachStore("stored responses", (store) => {
  const apps: TestApp[] = [];
  const start = async (place: Awaited<ReturnType<typeof store.place>>, clock = movingClock()) => {
    const app = await startApp({ place, clock });
    apps.push(app);
    return app;
  };
  afterEach(async () => {
    await Promise.all(apps.splice(0).map((app) => app.stop()));
  });

  it("survive a restart", async () => {
    const place = await store.place("migrated");
    const before = await start(place);
    const merchant = await approvedMerchant(before);
    const path = `${merchant.path}/api-keys`;
    const [key, secretKey] = [freshKey(), freshKey()];
    const create = (app: TestApp) =>
      app.request("POST", path, {
        key: merchant.key,
        body: { name: "shop", scopes: ["read"] },
        headers: { "Idempotency-Key": secretKey },
      });
    const first = await found(before, merchant, key);
    const secret = await create(before);
    await Promise.all(apps.splice(0).map((app) => app.stop()));

    const after = await start(place);
    const again = await found(after, merchant, key);
    expect(again.text).to.equal(first.text);
    expect(again.headers.get("Idempotent-Replayed")).to.equal("true");
    expect((await create(after)).text).to.equal(secret.text);
    expect(await organizationsNamed(after, "Twice")).to.equal(1);
  });

  it("are shared by processes: simultaneous requests to two of them have one effect", async () => {
    const place = await store.place("migrated");
    const [left, right] = [await start(place), await start(place)];
    const merchant = await approvedMerchant(left);
    for (let round = 0; round < 10; round += 1) {
      const key = freshKey();
      const name = `Round ${String(round)}`;
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, n) =>
          found(n % 2 === 0 ? left : right, merchant, key, name),
        ),
      );
      expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 201));
      expect(new Set(answers.map(({ text }) => text)).size).to.equal(1);
      expect(await organizationsNamed(left, name)).to.equal(1);
    }
  });

  it("resolve the conflict with the same request in another process", async () => {
    const place = await store.place("migrated");
    const [left, right] = [await start(place), await start(place)];
    for (let round = 0; round < 5; round += 1) {
      const person = await register(left);
      const { path } = person;
      await left.request("PATCH", path, {
        token: person.token,
        body: {
          legalName: "L",
          registrationNumber: "1",
          country: "DE",
          address: "a",
          contactEmail: "a@b.example",
          businessDescription: "b",
        },
      });
      const headers = { "Idempotency-Key": freshKey() };
      const answers = await Promise.all(
        [left, right, left, right].map((app) =>
          app.request("POST", `${path}/kyb/submit`, { token: person.token, headers }),
        ),
      );
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
      expect(
        await countRows(left.app.db, "organization_reviews", "WHERE organization_id = $1", [
          person.organizationId,
        ]),
      ).to.equal(1);
    }
  });

  describe("of a process", () => {
    const answer = { status: 200, body: "{}" };
    const present = () => answer;
    const requestOf = (key: string): IdempotentRequest => ({
      key,
      scope: "tests",
      fingerprint: "same",
      target: "here",
      hasExternalId: false,
      isPublic: false,
      isSecret: false,
    });
    const make = async (twinWaitMs?: number) => {
      const db = await store.open();
      const key = new Uint8Array(32).fill(1);
      const given = twinWaitMs === undefined ? {} : { twinWaitMs };
      const idempotency = createIdempotency({ db, clock: movingClock(), key, ...given });
      const run: typeof idempotency.run = (...parts) => idempotency.run(...parts);
      return { db, run };
    };

    it("do not hide an error of the program, and are not made without a write", async () => {
      const { run } = await make();
      let runs = 0;
      const fails = () => Promise.reject(new Error("a fault of the program"));
      const reads = () => Promise.resolve((runs += 1));
      const error = await run(requestOf("one"), testContext, fails, present).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).to.have.property("message", "a fault of the program");
      for (const times of [1, 2]) {
        const read = await run(requestOf("one"), testContext, reads, present);
        expect([read, runs]).to.deep.equal([{ response: answer, isReplayed: false }, times]);
      }
    });

    it("are found again when the process has forgotten their keys", async () => {
      const { run, db } = await make();
      const writes = (context: WriteContext) => db.write(context, () => Promise.resolve(1));
      const reads = () => Promise.resolve(1);
      await run(requestOf("first"), testContext, writes, present);
      for (let n = 0; n < 20_000; n += 1) {
        await run(requestOf(String(n)), testContext, reads, present);
      }
      const again = await run(requestOf("first"), testContext, writes, present);
      expect(again).to.deep.equal({ response: answer, isReplayed: true });
      expect(await countRows(db, "idempotency_keys")).to.equal(1);
    });

    it("are awaited for a while; after that the answer is 409", async () => {
      const { run } = await make(1);
      const never = () => new Promise(() => undefined);
      void run(requestOf("slow"), testContext, never, present);
      const error = await run(requestOf("slow"), testContext, never, present).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).to.include({ status: 409, code: "idempotency_key_in_flight" });
    });
  });

  it("are deleted after a day", async () => {
    const clock = movingClock();
    const app = await start(await store.place("migrated"), clock);
    const merchant = await approvedMerchant(app);
    const key = freshKey();
    const first = await found(app, merchant, key);
    clock.advance(24 * hour - minute);
    await pruneResponses(app.app.db, clock.now(), testContext);
    expect((await found(app, merchant, key)).text).to.equal(first.text);
    clock.advance(2 * minute);
    expect(await pruneResponses(app.app.db, clock.now(), testContext)).to.equal(false);
    const next = await found(app, merchant, key, "Another");
    expect(next.status).to.equal(201);
    expect(next.headers.get("Idempotent-Replayed")).to.equal(null);
    expect(await organizationsNamed(app, "Twice")).to.equal(1);
  });
});
