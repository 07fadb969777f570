import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect } from "chai";
import { createPasswordReset } from "../../../src/features/auth/passwords.ts";
import { allOperations } from "../../../src/features/index.ts";
import { readArchive } from "../../../src/platform/backup/backup-file.ts";
import type { StoreOptions } from "../../../src/platform/database/open.ts";
import { createLogger } from "../../../src/platform/logger/index.ts";
import { back } from "../../compose/backup/backups.ts";
import {
  approvedMerchant,
  expectStatus,
  password,
  platformAdmin,
  startApp,
  type TestApp,
} from "../../support/app.ts";
import { secret as serverSecret } from "../../support/secret.ts";
import { dumpStore } from "../../support/store/dump.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";

eachStore("secrets", (store) => {
  const lines: string[] = [];
  const secrets = new Map<string, string>();
  const metricsToken = "the-token-with-which-Prometheus-reads";
  let place: StoreOptions;
  /** Every refusal, and every later response to somebody who may read, by its request. */
  const read = new Map<string, string>();
  let app: TestApp | undefined;

  /** Every way in that carries a secret, good and bad ones. */
  async function everyWayIn(at: TestApp): Promise<void> {
    const merchant = await approvedMerchant(at);
    const { path } = merchant;
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

    const kept = async (name: string, post: string, field: string, body: object) => {
      const answer = await expectStatus(
        at.request("POST", path + post, { token: merchant.token, body }),
        post.endsWith("rotate-secret") ? 200 : 201,
      );
      secrets.set(name, answer.body[field] as string);
      return String(answer.body["id"]);
    };
    const invited = { email: "invited@example.com", role: "viewer" };
    await kept("an invitation", "/invitations", "token", invited);
    const endpoint = { url: "https://1.1.1.1/hooks" };
    const endpointId = await kept("a webhook secret", "/webhook-endpoints", "secret", endpoint);
    const rotation = `/webhook-endpoints/${endpointId}/rotate-secret`;
    await kept("a second webhook secret", rotation, "secret", { overlapSeconds: 3_600 });
    const reset = await createPasswordReset(at.app, testContext, { email: merchant.email });
    secrets.set("a password reset", reset.token);
    secrets.set("the server's secret", serverSecret);
    secrets.set("the token of the metrics", metricsToken);
    await readAll(at, merchant);
  }

  /** Reads every list and object of the merchant and of the platform that needs no other id. */
  async function readAll(
    at: TestApp,
    merchant: { readonly organizationId: string; readonly key: string },
  ): Promise<void> {
    const admin = await platformAdmin(at);
    for (const { method, path } of allOperations) {
      const target = `/v1${path.replace("{organizationId}", merchant.organizationId)}`;
      if (method !== "GET" || target.includes("{")) continue;
      for (const caller of [{ key: merchant.key }, { token: admin.token }]) {
        const answer = await at.request("GET", target, caller);
        read.set(`${target} as ${Object.keys(caller).join("")}`, answer.text);
      }
    }
    for (const target of ["/healthz", "/readyz", "/metrics", "/docs", "/v1/openapi.json"]) {
      read.set(target, (await at.request("GET", target)).text);
    }
  }

  function notingRefusals(at: TestApp): TestApp["request"] {
    return async (method, target, options) => {
      const answer = await at.request(method, target, options);
      if (answer.status >= 400) {
        // A refusal names the fields that the request should not have.
        const fields = Object.keys(options?.body ?? {});
        const longestFirst = fields.sort((one, other) => other.length - one.length);
        const text = longestFirst.reduce((rest, field) => rest.replaceAll(field, ""), answer.text);
        read.set(`refusal ${String(read.size)} of ${method}`, text);
      }
      return answer;
    };
  }

  before(async () => {
    const destination = { write: (line: string) => lines.push(line) };
    place = await store.place("migrated");
    app = await startApp({
      place,
      settings: { TILL_LOG_LEVEL: "debug", TILL_METRICS_TOKEN: metricsToken },
      outside: { logger: createLogger({ level: "debug", destination }) },
    });
    await everyWayIn({ ...app, request: notingRefusals(app) });
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

  it("are in no response but the one that shows them, and in no error", () => {
    expect([...read.values()].filter((text) => text.includes('"data":['))).to.have.length.above(15);
    expect([...read.keys()].filter((name) => name.startsWith("refusal"))).to.have.length.above(9);
    for (const [path, text] of read) {
      for (const [name, secret] of secrets) {
        for (const trace of traces(secret)) {
          expect(text.includes(trace), `${name} in ${path}`).to.equal(false);
        }
      }
    }
  });

  it("are in no backup without the server's secret", async () => {
    const folder = await mkdtemp(join(tmpdir(), "till-secrets-"));
    try {
      const file = join(folder, "backup.tar");
      await back(place, file);
      const packed = Buffer.from([0x1f, 0x8b]);
      const texts: string[] = [];
      for await (const { name, content } of readArchive(file)) {
        const isPacked = content.subarray(0, 2).equals(packed);
        texts.push(name, (isPacked ? gunzipSync(content) : content).toString("utf8"));
      }
      const whole = texts.join("\n");
      expect(whole).to.include("$argon2id$");
      for (const [name, secret] of secrets) {
        for (const trace of traces(secret)) expect(whole.includes(trace), name).to.equal(false);
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
