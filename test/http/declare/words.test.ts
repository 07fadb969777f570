import { expect } from "chai";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "../../../src/platform/logger/index.ts";
import {
  approvedMerchant,
  register,
  startApp,
  type Person,
  type TestApp,
} from "../../support/app.ts";
import { describedOperation } from "../../support/declared.ts";
import { expectProblem, placeOf } from "../problem.ts";

describe("the messages of the API", () => {
  const written: string[] = [];
  let app: TestApp;
  let person: Person;
  let path: string;
  let folder: string;

  before(async () => {
    const logger = createLogger({
      level: "warn",
      destination: { write: (line) => written.push(line) },
    });
    folder = await mkdtemp(join(tmpdir(), "till words "));
    const ratesFile = join(folder, "rates.yaml");
    // Nothing listens on this port.
    const source = '{ name: gone, url: "http://127.0.0.1:9", value: /rate }';
    await writeFile(ratesFile, `pairs: { JPY/USD: { sources: [${source}] } }`);
    const settings = { TILL_RATES: "on", TILL_RATES_FILE: ratesFile };
    app = await startApp({ settings, outside: { logger } });
    person = await register(app);
    ({ path } = person);
  });
  after(async () => {
    await app.stop();
    await rm(folder, { recursive: true });
  });

  it("describe the expected value in JSON terms", async () => {
    const words = async (target: string, body: unknown) => {
      const { token } = person;
      const answer = await app.request("POST", `${path}${target}`, { token, body });
      const faults = expectProblem(answer, 400, "invalid_request");
      return Object.fromEntries(faults.map((fault) => [placeOf(fault), fault.message]));
    };
    const invoice = {
      amount: 5,
      settlementCurrency: "",
      tokenSymbol: "USDT",
      network: "n".repeat(41),
      expiresInSeconds: 299,
      draft: "yes",
      metadata: [],
    };
    expect(await words("/invoices", invoice)).to.deep.equal({
      "/amount": "must be text",
      "/settlementCurrency": "must not be empty",
      "/network": "must have at most 40 characters",
      "/expiresInSeconds": "must be at least 300",
      "/draft": "must be true or false",
      "/metadata": "must be an object",
    });
    expect(await words("/invoices", { ...invoice, expiresInSeconds: 300.5 })).to.include({
      "/expiresInSeconds": "must be a whole number",
    });
    expect(
      await words("/api-keys", { name: "k", scopes: ["all"], expiresAt: "2030-02-30" }),
    ).to.deep.equal({
      "/scopes/0":
        "must be one of read, write, shop, invoices, customers, links, payments:decide, refunds, webhooks, wallets, keys, members, exports, settings, billing, platform",
      "/expiresAt": "must be a time with an offset, such as 2026-01-31T00:00:00Z",
    });
    const list = await app.request("PATCH", path, { token: person.token, raw: "[]" });
    expect(list.body["detail"]).to.contain("the body: must be an object");
  });

  it("say what to do about a credential that is no longer valid", async () => {
    const answer = await app.request("GET", path, { token: "a.b.c" });
    expectProblem(answer, 401, "unauthenticated");
    expect(answer.body["detail"]).to.contain("expired or revoked: refresh the session");
  });

  it("are all in the API's document, including those of a server that is busy hashing passwords", async () => {
    const body = { email: "nobody@example.com", password: "wrong and long enough" };
    const answers = await Promise.all(
      Array.from({ length: 400 }, (_, place) =>
        app.request("POST", "/v1/auth/login", {
          body: { ...body, email: `nobody${String(place)}@example.com` },
        }),
      ),
    );
    const busy = answers.find(({ status }) => status === 503);
    expect(busy?.body["code"]).to.equal("busy");
    expect(busy?.headers.get("Retry-After")).to.equal("1");
    for (const path of ["login", "register", "password", "password/reset"]) {
      const operation = describedOperation("POST", `/v1/auth/${path}`);
      expect(operation?.responses["503"]?.description, path).to.contain("`busy`");
    }
  });

  it("link from the server's own address to the documentation", async () => {
    const answer = await app.request("GET", "/");
    expect(answer.status).to.equal(200);
    expect(answer.headers.get("Content-Type")).to.contain("text/html");
    expect(answer.text).to.contain('href="/docs"').and.not.to.contain(app.app.version);
  });

  it("are warnings without a stack in the log if a rule refuses temporarily", async () => {
    const merchant = await approvedMerchant(app);
    const answer = await app.request("POST", `${merchant.path}/invoices`, {
      token: merchant.token,
      body: {
        amount: "100",
        settlementCurrency: "JPY",
        tokenSymbol: "USDT",
        network: "sandbox",
      },
    });
    expectProblem(answer, 503, "rate_unavailable");
    const line = written.find((each) => each.includes("rate_unavailable")) ?? "{}";
    expect(JSON.parse(line)).to.include({ level: "warn", code: "rate_unavailable" });
    expect(line).to.contain(answer.headers.get("X-Request-Id")).and.not.contain("stack");
  });
});
