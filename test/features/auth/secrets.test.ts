import { expect } from "chai";
import { createLogger } from "../../../src/platform/logger/index.ts";
import { approvedMerchant, password, startApp, type TestApp } from "../../support/app.ts";
import { dumpStore } from "../../support/store/dump.ts";
import { eachStore } from "../../support/store/stores.ts";

eachStore("secrets", (store) => {
  const lines: string[] = [];
  const secrets = new Map<string, string>();
  let app: TestApp | undefined;

  /** Every way in that carries a secret, good and bad ones. */
  async function everyWayIn(at: TestApp): Promise<void> {
    const merchant = await approvedMerchant(at);
    const path = `/v1/organizations/${merchant.organizationId}`;
    secrets.set("the password", password);
    secrets.set("an access token", merchant.token);
    secrets.set("an API key", merchant.key);

    const login = (given: string) =>
      at.request("POST", "/v1/auth/login", { body: { email: merchant.email, password: given } });
    const session = await login(password);
    const refreshToken = session.body["refreshToken"] as string;
    secrets.set("a refresh token", refreshToken);
    const refreshed = await at.request("POST", "/v1/auth/refresh", { body: { refreshToken } });
    secrets.set("its successor", refreshed.body["refreshToken"] as string);

    const guess = "a wrong password that may be right elsewhere";
    secrets.set("a wrong password", guess);
    await login(guess);
    await at.request("POST", "/v1/auth/register", {
      body: { email: merchant.email, password: guess, name: "x", organizationName: "y" },
    });
    await at.request("POST", "/v1/auth/login", { raw: `{"password":"${guess}"` });
    await at.request("POST", "/v1/auth/login", {
      body: { email: 1, password: [guess], [guess]: 1 },
    });

    const idempotencyKey = "an-idempotency-key-of-the-tests";
    secrets.set("an Idempotency-Key", idempotencyKey);
    const created = await at.request("POST", `${path}/api-keys`, {
      key: merchant.key,
      body: { name: "sealed", scopes: ["read"] },
      headers: { "Idempotency-Key": idempotencyKey },
    });
    secrets.set("an API key that was kept", created.body["secret"] as string);

    for (const headers of [
      { Authorization: `Bearer ${merchant.token.slice(0, -3)}` },
      { "X-Service-Key": merchant.key.slice(0, -3) },
      { "X-Service-Key": merchant.key, Authorization: `Bearer ${merchant.token}` },
    ]) {
      await at.request("GET", path, { headers });
    }
    await at.request("GET", `${path}?token=${merchant.token}`, { token: merchant.token });
    await at.request("GET", `/v1/organizations/${merchant.key}`, { token: merchant.token });
    await at.request("GET", `/v1/${merchant.key}`);
    await at.request("POST", "/v1/auth/logout", { body: { refreshToken } });
  }

  before(async function () {
    this.timeout(120_000);
    const destination = { write: (line: string) => lines.push(line) };
    app = await startApp({
      place: await store.place("migrated"),
      settings: { TILL_LOG_LEVEL: "debug" },
      outside: { logger: createLogger({ level: "debug", destination }) },
    });
    await everyWayIn(app);
  });
  after(() => app?.stop());

  /** The secret, and its parts from which the whole could be guessed. */
  const traces = (secret: string) => [secret, secret.slice(16), secret.slice(0, -6)];

  it("are not stored in plain text", async () => {
    if (app === undefined) throw new Error("the program does not run");
    const dump = await dumpStore(app.app.db);
    expect(dump).to.include("$argon2id$");
    for (const [name, secret] of secrets) {
      for (const trace of traces(secret)) expect(dump.includes(trace), name).to.equal(false);
    }
  });

  it("are not logged, although every request is", () => {
    const log = lines.join("");
    expect(lines.length).to.be.greaterThan(15);
    expect(log).to.include('"status":401').and.include('"status":404');
    for (const [name, secret] of secrets) {
      for (const trace of traces(secret)) expect(log.includes(trace), name).to.equal(false);
    }
  });
});
