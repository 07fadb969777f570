import { expect } from "chai";
import { formatDuration } from "../../../src/features/checkout/page/catalogue.ts";
import { en } from "./shipped-languages.ts";
import { second } from "../../../src/kernel/clock.ts";
import { programVersion } from "../../../src/platform/files.ts";
import { StoreUnavailable } from "../../../src/platform/database/errors.ts";
import { aHash, checkoutId, openLab, type Lab } from "./lab.ts";

const retry = /<main class="page" data-path="([^"]*)" data-retry-seconds="(\d+)">/;

describe("problems of the payer's pages", () => {
  let lab: Lab;
  afterEach(() => lab.close());

  /** Expects a page with words, without private details, and returns it. */
  async function pageOf(answer: Response, status: number, words: string): Promise<string> {
    expect(answer.status).to.equal(status);
    expect(answer.headers.get("content-type")).to.equal("text/html; charset=utf-8");
    expect(answer.headers.get("content-security-policy")).to.contain("script-src 'self'");
    expect(answer.headers.get("x-robots-tag")).to.equal("noindex");
    const page = await answer.text();
    expect(page).to.match(/^<!doctype html>/);
    expect(page.replaceAll("&#39;", "'")).to.contain(words);
    expect(page).not.to.match(/http-equiv/i);
    return page;
  }

  const send = (path: string, init: RequestInit): Promise<Response> =>
    fetch(lab.url + path, { redirect: "manual", ...init });

  it("have words for a wrong path", async () => {
    lab = await openLab("tron");
    for (const path of [
      "/pay",
      "/pay/",
      "/pay/chk_x",
      "/pay/a/b/c",
      `/pay/${checkoutId}/nothing`,
    ]) {
      const page = await pageOf(await lab.get(path), 404, "We can't find this payment link");
      expect(page).not.to.contain(`href="/pay/${checkoutId}"`).and.not.to.contain("null");
    }
    const wrong = await (await send("/pay/", { method: "DELETE" })).text();
    expect(wrong).to.contain("<!doctype html>").and.not.to.contain("null");
  });

  for (const [what, path, init, status] of [
    ["method", "", { method: "DELETE" }, 405],
    ["reload of a form's address", "/option", {}, 405],
    ["type", "/transactions", { method: "POST", body: "{}" }, 415],
    [
      "size",
      "/transactions",
      { method: "POST", body: new URLSearchParams({ transactionHash: "a".repeat(17_000) }) },
      413,
    ],
    ["action", "/sandbox", { method: "POST", body: new URLSearchParams({ action: "x" }) }, 400],
  ] as const satisfies readonly (readonly [string, string, RequestInit, number])[]) {
    it(`lead back to the payment after a wrong ${what}`, async () => {
      lab = await openLab("sandbox", { basePath: "/shop" });
      const answer = await send(`/pay/${checkoutId}${path}`, init);
      const page = await pageOf(answer, status, "so nothing has changed");
      expect(page).to.contain(`href="/shop/pay/${checkoutId}"`).and.not.to.match(retry);
      expect(page, "needs no script").not.to.contain("<script");
      expect(lab.world.submitted).to.deep.equal([]);
      expect(lab.world.pressed).to.deep.equal([]);
    });
  }

  it("hide the cause of a defect, and give its reference", async () => {
    lab = await openLab("tron");
    lab.world.fault = new Error("SELECT secret FROM invoices");
    const answer = await fetch(lab.page, { headers: { "X-Request-Id": "req_42" } });
    const page = await pageOf(answer, 500, "send the merchant this reference: req_42");
    const unreceived = "we may not have received it";
    expect(page).not.to.contain("SELECT").and.not.to.contain(unreceived);
    await pageOf(await lab.submit(aHash("a")), 500, unreceived);
  });

  it("reload once the store is back", async () => {
    lab = await openLab("tron", { basePath: "/shop" });
    lab.world.fault = new StoreUnavailable("the disk is full", { retryAfterSeconds: 3 });
    const answer = await fetch(lab.page);
    expect(answer.headers.get("retry-after")).to.equal("3");
    const page = await pageOf(answer, 503, "Please don't pay again");
    expect(retry.exec(page)?.slice(1)).to.deep.equal([`/shop/pay/${checkoutId}`, "3"]);
    expect(page).not.to.contain("disk");
    lab.world.fault = null;
    expect((await fetch(lab.page)).status).to.equal(200);
  });

  it("ask for a pause if one checkout is requested too often, and leave the others alone", async () => {
    lab = await openLab("tron", { limits: { checkout: 3 } });
    const other = checkoutId.replace("0", "1");
    lab.world.others.add(other);
    for (const _ of [1, 2, 3]) expect((await fetch(lab.page)).status).to.equal(200);
    const answer = await fetch(lab.page);
    const seconds = answer.headers.get("retry-after");
    const page = await pageOf(answer, 429, "One moment, please");
    expect(retry.exec(page)?.slice(1)).to.deep.equal([`/pay/${checkoutId}`, seconds]);
    expect(page).to.contain(formatDuration(en, Number(seconds) * second));
    const session = await lab.get(`/v1/checkout/${checkoutId}`);
    expect(session.status).to.equal(429);
    expect(session.headers.get("content-type")).to.contain("application/problem+json");
    expect((await lab.get(`/pay/${other}`)).status).to.equal(200);
    // The page of the problem and the other page need their files.
    for (const [, file = ""] of page.matchAll(/"(\/pay\/assets\/[^"]+)"/g)) {
      for (const _ of [1, 2, 3, 4]) expect((await lab.get(file)).status).to.equal(200);
    }
  });

  it("answer a hundred forms from one address with words", async () => {
    lab = await openLab("tron", { limits: { submit: 10 } });
    const answers = await Promise.all(Array.from({ length: 100 }, () => lab.submit(aHash("a"))));
    const refused = answers.filter(({ status }) => status !== 303);
    expect(refused).to.have.length(90);
    for (const answer of refused) {
      expect(
        await pageOf(answer, 429, "entering a transaction ID, enter it again then"),
      ).not.to.match(retry);
    }
    expect(lab.world.submitted).to.have.length(10);
  });

  it("do not count malformed checkout ids against anybody's limit", async () => {
    lab = await openLab("tron", { limits: { submit: 1, checkout: 1 } });
    for (const path of ["/pay/nonsense", "/pay/nonsense/transactions"]) {
      for (const _ of [1, 2, 3]) {
        const method = path.endsWith("transactions") ? "POST" : "GET";
        const body = method === "POST" ? new URLSearchParams({ transactionHash: "x" }) : null;
        expect((await fetch(lab.url + path, { method, body })).status, path).to.equal(404);
      }
    }
    expect((await lab.submit(aHash("a"))).status).to.equal(303);
  });

  it("do not reload after a form that may not have been received", async () => {
    lab = await openLab("tron");
    lab.world.refusal = new StoreUnavailable("the disk is full", { retryAfterSeconds: 3 });
    const page = await pageOf(await lab.submit(aHash("a")), 503, "may not have received");
    expect(page).to.contain(`href="/pay/${checkoutId}"`).and.not.to.match(retry);
  });

  it("are JSON for clients that ask for it, and under /v1 for everyone", async () => {
    lab = await openLab("tron");
    for (const accept of ["application/json", "application/problem+json"]) {
      const answer = await lab.get("/pay/chk_x", { Accept: accept });
      expect(answer.status).to.equal(404);
      expect(answer.headers.get("content-type")).to.contain("application/problem+json");
      expect(answer.headers.get("vary")).to.contain("Accept");
    }
    const answer = await lab.get("/v1/checkout/chk_x", { Accept: "text/html" });
    expect(answer.headers.get("content-type")).to.contain("application/problem+json");
  });

  it("show nothing from the path", async () => {
    lab = await openLab("tron");
    for (const path of ["/pay/%3Cscript%3Ealert(1)%3C%2Fscript%3E/x", "/pay/%22onload=1/x"]) {
      const page = await pageOf(await lab.get(path), 404, "We can't find this payment link");
      expect(page).not.to.contain("alert(1)").and.not.to.contain("onload");
    }
  });
});

describe("sixty open pages behind one address", () => {
  let lab: Lab;
  afterEach(() => lab.close());

  const pages = 60;
  // Two minutes of polls take the suite a minute, so this is a quarter of them, at a quarter of the limit.
  const seconds = 30;
  const limits = { checkout: 1_500 };

  it("are never refused, even if their polls of half a minute come within seconds", async () => {
    lab = await openLab("tron", { limits });
    const ids = Array.from(
      { length: pages },
      (_, n) => `chk_${String(n).padStart(4, "0")}456789abcdefghjkmnpqrstvwxyz`,
    );
    ids.forEach((id) => lab.world.others.add(id));
    const statuses = new Map<number, number>();
    const load = async (path: string, headers: Record<string, string> = {}) => {
      const answer = await lab.get(path, headers);
      await answer.arrayBuffer();
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      return answer.headers.get("ETag") ?? "";
    };
    await Promise.all(ids.map((id) => load(`/pay/${id}`)));
    const tags = await Promise.all(ids.map((id) => load(`/v1/checkout/${id}`)));
    for (let at = 0; at < seconds; at += 1) {
      lab.world.at += 1_000;
      if (lab.world.networkState !== null) {
        lab.world.networkState = {
          ...lab.world.networkState,
          tipTime: lab.world.at,
          scannedAt: lab.world.at,
        };
      }
      await Promise.all(
        ids.map((id, n) => load(`/v1/checkout/${id}`, { "If-None-Match": tags[n] ?? "" })),
      );
    }
    expect([...statuses]).to.deep.equal([
      [200, 2 * pages],
      [304, pages * seconds],
    ]);
  });

  it("may all be of the same checkout", async () => {
    lab = await openLab("tron", { limits });
    // A quarter of the limit's window.
    for (let at = 0; at < seconds / 2; at += 1) {
      const answers = await Promise.all(
        Array.from({ length: pages }, () => lab.get(`/v1/checkout/${checkoutId}`)),
      );
      for (const answer of answers) {
        expect(answer.status).to.equal(200);
        await answer.arrayBuffer();
      }
    }
  });
});

describe("the page of the bare host", () => {
  it("says what the host is, and nothing about merchants or the program", async () => {
    const lab = await openLab("tron", { basePath: "/shop" });
    const answer = await lab.get("/");
    const page = await answer.text();
    await lab.close();
    expect(answer.status).to.equal(200);
    expect(answer.headers.get("content-type")).to.equal("text/html; charset=utf-8");
    expect(page).to.contain("open the whole link that the merchant gave you");
    expect(page).to.contain('href="/shop/docs"');
    expect(page).to.contain('href="/shop/pay/assets/checkout.').and.not.to.contain("<script");
    for (const secret of ["Till", "Zürich", "chk_", programVersion()])
      expect(page).not.to.contain(secret);
    expect(lab.world.looks).to.equal(0);
  });
});
