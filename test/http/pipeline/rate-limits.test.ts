import { expect } from "chai";
import {
  createRateLimiter,
  RateLimitExceeded,
  rateLimits,
  type RateLimitName,
} from "../../../src/http/pipeline/rate-limits.ts";
import { paymentLinkPages } from "../../../src/features/payment-links/pages.ts";
import {
  approvedMerchant,
  password,
  register,
  startApp,
  type Person,
  type TestApp,
} from "../../support/app.ts";
import { anyStore } from "../../support/store/stores.ts";
import { expectProblem } from "../problem.ts";

anyStore("rate limits", (store) => {
  let app: TestApp | undefined;
  const start = async (settings: Record<string, string>) => {
    app = await startApp({
      place: await store.place("migrated"),
      settings: { TILL_RATE_LIMIT_SCALE: "1", ...settings },
    });
    return app;
  };
  afterEach(async () => {
    await app?.stop();
    app = undefined;
  });

  const login = (at: TestApp, headers: Record<string, string> = {}) =>
    at.request("POST", "/v1/auth/login", {
      body: { email: "nobody@example.com", password },
      headers,
    });

  it("count a credential's requests, report the remaining ones, and refuse with the time to wait", async () => {
    const at = await start({ TILL_RATE_LIMIT_CREDENTIAL_PER_MINUTE: "8" });
    const merchant = await approvedMerchant(at);
    const { path } = merchant;
    for (let left = 7; left >= 0; left -= 1) {
      const answer = await at.request("GET", path, { key: merchant.key });
      expect(answer.status).to.equal(200);
      expect(answer.headers.get("RateLimit-Policy")).to.equal('"credential";q=8;w=60');
      expect(answer.headers.get("RateLimit")).to.match(
        new RegExp(`^"credential";r=${String(left)};t=\\d+$`),
      );
    }
    const refused = await at.request("GET", path, { key: merchant.key });
    expectProblem(refused, 429, "rate_limited");
    expect(Number(refused.headers.get("Retry-After"))).to.be.within(1, 60);
    expect(refused.headers.get("RateLimit-Policy")).to.equal('"credential";q=8;w=60');
    expect(refused.headers.get("RateLimit")).to.match(/^"credential";r=0;t=\d+$/);

    // Another credential of the same people, and what needs none, go on.
    const user = await at.request("GET", path, { token: merchant.token });
    expect(user.status).to.equal(200);
    expect((await at.request("GET", "/healthz")).status).to.equal(200);
  });

  it("count all keys and members of an organization together, more of them once it is approved", async () => {
    const at = await start({
      TILL_RATE_LIMIT_CREDENTIAL_PER_MINUTE: "20",
      TILL_RATE_LIMIT_NEW_ORGANIZATION_PER_MINUTE: "30",
      TILL_RATE_LIMIT_ORGANIZATION_PER_MINUTE: "50",
    });
    /** Sends 20 requests with each of four keys, and returns how many were admitted. */
    async function admitted({ organizationId, token }: Person): Promise<number> {
      const path = `/v1/organizations/${organizationId}`;
      let count = 0;
      for (let keys = 0; keys < 4; keys += 1) {
        const body = { name: "k", scopes: ["read"] };
        const made = await at.request("POST", `${path}/api-keys`, { token, body });
        if (made.status !== 201) break;
        const key = String(made.body["secret"]);
        for (let calls = 0; calls < 20; calls += 1) {
          const answer = await at.request("GET", path, { key });
          if (answer.status === 200) count += 1;
          else expectProblem(answer, 429, "rate_limited");
        }
      }
      return count;
    }
    expect(await admitted(await register(at))).to.be.within(20, 30);
    expect(await admitted(await approvedMerchant(at))).to.be.within(31, 50);
    const person = await register(at);
    const { organizationId, token } = person;
    const other = await at.request("GET", `/v1/organizations/${organizationId}`, { token });
    expect(other.status, "another organization goes on").to.equal(200);
  });

  it("count batches of invoices apart from the credential's other requests", async () => {
    const at = await start({ TILL_RATE_LIMIT_SCALE: "0.04" });
    const merchant = await approvedMerchant(at);
    const { path } = merchant;
    const send = () =>
      at.request("POST", `${path}/invoices/batch`, {
        key: merchant.key,
        body: { invoices: [{}] },
      });
    expect((await send()).headers.get("RateLimit-Policy")).to.equal('"batch";q=2;w=60');
    expect((await send()).status).to.equal(200);
    expectProblem(await send(), 429, "rate_limited");
    expect((await at.request("GET", path, { key: merchant.key })).status).to.equal(200);
  });

  it("count and report refused requests too", async () => {
    const at = await start({ TILL_RATE_LIMIT_CREDENTIAL_PER_MINUTE: "20" });
    const person = await register(at);
    const { path } = person;
    const missing = await at.request("GET", `${path}x`, { token: person.token });
    expectProblem(missing, 404, "not_found");
    expect(missing.headers.get("RateLimit")).to.include("r=19");
    const wrong = await at.request("PATCH", path, { token: person.token, body: { x: 1 } });
    expect(wrong.headers.get("RateLimit")).to.include("r=18");
  });

  it("count logins and registrations by the client's address", async () => {
    const at = await start({
      TILL_RATE_LIMIT_LOGIN_PER_MINUTE: "3",
      TILL_RATE_LIMIT_REGISTRATION_PER_HOUR: "2",
    });
    for (const _ of [1, 2, 3]) expectProblem(await login(at), 401, "invalid_credentials");
    expectProblem(await login(at), 429, "rate_limited");
    await register(at);
    await register(at);
    const third = await at.request("POST", "/v1/auth/register", {
      body: { email: "x@example.com", password, name: "X", organizationName: "X" },
    });
    expectProblem(third, 429, "rate_limited");
    expect(Number(third.headers.get("Retry-After"))).to.be.within(3_000, 3_600);
  });

  it("ignore a forwarding header from an untrusted source", async () => {
    const at = await start({ TILL_RATE_LIMIT_LOGIN_PER_MINUTE: "3" });
    const answers = [];
    for (let n = 0; n < 5; n += 1) {
      const spoofed = `203.0.113.${String(n)}`;
      answers.push(
        await login(at, {
          "X-Forwarded-For": spoofed,
          Forwarded: `for=${spoofed}`,
          "X-Real-IP": spoofed,
        }),
      );
    }
    expect(answers.map(({ status }) => status)).to.deep.equal([401, 401, 401, 429, 429]);
  });

  it("use the address that a trusted proxy adds, not the ones before it", async () => {
    const at = await start({
      TILL_RATE_LIMIT_LOGIN_PER_MINUTE: "2",
      TILL_TRUST_PROXY: "127.0.0.0/8",
    });
    const from = (header: string) => login(at, { "X-Forwarded-For": header });
    const statuses = [];
    for (const header of [
      "198.51.100.1, 203.0.113.7",
      "198.51.100.2, 203.0.113.7",
      "198.51.100.3, 203.0.113.7",
      "203.0.113.8",
      "203.0.113.7, 127.0.0.9",
    ]) {
      statuses.push((await from(header)).status);
    }
    expect(statuses).to.deep.equal([401, 401, 429, 401, 429]);
  });

  it("are switched off by a scale of 0", async () => {
    const at = await start({
      TILL_RATE_LIMIT_SCALE: "0",
      TILL_RATE_LIMIT_CREDENTIAL_PER_MINUTE: "1",
    });
    const person = await register(at);
    const { path } = person;
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => at.request("GET", path, { token: person.token })),
    );
    for (const answer of answers) {
      expect(answer.status).to.equal(200);
      expect(answer.headers.get("RateLimit")).to.equal(null);
    }
  });
});

describe("each rate limit", () => {
  const names = Object.keys(rateLimits) as RateLimitName[];
  const quota = 7;
  const quotas = Object.fromEntries(names.map((name) => [name, quota])) as Record<
    RateLimitName,
    number
  >;

  for (const name of names) {
    it(`admits no more than its quota of 64 simultaneous requests: ${name}`, async () => {
      const limiter = createRateLimiter(quotas, 1);
      const counted = await Promise.allSettled(
        Array.from({ length: 64 }, () => limiter.count(name, "203.0.113.1")),
      );
      expect(counted.filter(({ status }) => status === "fulfilled")).to.have.length(quota);
      for (const one of counted) {
        if (one.status === "rejected") expect(one.reason).to.be.instanceOf(RateLimitExceeded);
      }
      // Another client, credential or checkout has a quota of its own.
      expect((await limiter.count(name, "203.0.113.2"))?.remaining).to.equal(quota - 1);
    });
  }

  it("admits 4 quotas of a /56 and 16 of a /48 or an IPv4 /24, however many addresses they are sent from", async () => {
    const limiter = createRateLimiter(quotas, 1);
    /** Sends as long as a range is not refused, once from each of its smaller ranges. */
    async function admitted(addressOf: (place: number) => string): Promise<number> {
      const sent = await Promise.allSettled(
        Array.from({ length: 255 }, (_, place) => limiter.count("login", addressOf(place))),
      );
      return sent.filter(({ status }) => status === "fulfilled").length;
    }
    const hex = (place: number) => place.toString(16).padStart(2, "0");
    expect(await admitted((place) => `2001:db8:1:1${hex(place)}::1`), "/56").to.equal(4 * quota);
    expect(await admitted((place) => `2001:db8:2:${hex(place)}00::1`), "/48").to.equal(16 * quota);
    expect(await admitted((place) => `203.0.113.${String(place)}`), "/24").to.equal(16 * quota);
    await limiter.count("login", "2001:db8:3::1");
    await limiter.count("login", "203.0.112.255");
  });

  it("counts a range at each link separately, and before the link", async () => {
    const limiter = createRateLimiter(quotas, 1);
    const send = (link: string, place: string) => limiter.count("linkRange", `${link} ${place}`);
    for (let host = 1; host <= quota; host += 1) await send("lnk_1", `203.0.113.${String(host)}`);
    const refused = await send("lnk_1", "203.0.113.200").catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(RateLimitExceeded);
    await send("lnk_2", "203.0.113.200");
    await send("lnk_1", "203.0.112.1");
    const [form] = paymentLinkPages.filter(({ method }) => method === "POST");
    expect(form?.limit).to.deep.equal(["link", "linkRange", "linkInvoices"]);
  });
});
