import { expect } from "chai";
import { allOperations, features } from "../../../src/features/index.ts";
import { anyServed, approvedMerchant } from "../../support/app.ts";
import { rawExchange } from "../../support/raw-http.ts";

interface Route {
  readonly method: string;
  readonly path: string;
}

/** Every page of every feature. */
const pages: readonly Route[] = features.flatMap(({ pages: own = [] }) => own);

anyServed("the routes of requests", (served) => {
  let key: string;
  let path: string;

  before(async () => {
    const merchant = await approvedMerchant(served.app);
    key = merchant.key;
    ({ path } = merchant);
  });

  /** Returns the status of a request, with its header Allow or Location if it has one. */
  async function answerTo(method: string, target: string): Promise<string> {
    const { status, headers } = await rawExchange(served.app.url, {
      method,
      target: target.replace("ORGANIZATION", path),
      headers: [["X-Service-Key", key]],
    });
    return [status, headers.get("allow"), headers.get("location")].filter(Boolean).join(" ");
  }

  async function expectAnswers(method: string, expected: Readonly<Record<string, string>>) {
    const found: Record<string, string> = {};
    for (const target of Object.keys(expected)) found[target] = await answerTo(method, target);
    expect(found, method).to.deep.equal(expected);
  }

  it("reach every operation and every page, with the methods of its path", async () => {
    for (const { method, path: pattern } of [
      ...allOperations.map((operation) => ({ ...operation, path: `/v1${operation.path}` })),
      ...pages,
    ]) {
      const target = pattern.replaceAll(/\{\w+\}/g, "x%2Fx");
      for (const asked of [target, target === "/" ? target : `${target}/`]) {
        const [status, ...allowed] = (await answerTo("OPTIONS", asked)).split(/,? /);
        expect([status, ...allowed], `${method} ${asked}`).to.include.members(["200", method]);
      }
    }
  });

  it("do not depend on one slash at the end, and on nothing else about slashes", async () => {
    await expectAnswers("GET", {
      ORGANIZATION: "200",
      "ORGANIZATION/": "200",
      "ORGANIZATION/invoices/": "200",
      "ORGANIZATION/invoices.csv/": "200",
      "/healthz/": "200",
      "/docs/": "302 ../docs",
      "//": "200",
      "ORGANIZATION//": "404",
      "ORGANIZATION//invoices": "404",
      "ORGANIZATION/invoices//": "404",
      "/ORGANIZATION": "404",
      "/v1//organizations": "404",
      "///": "404",
      "//healthz": "404",
      "/healthz//": "404",
    });
  });

  it("do not decode the names in a path, and decode its parameters", async () => {
    await expectAnswers("GET", {
      "ORGANIZATION%2Finvoices": "404",
      "ORGANIZATION%2F": "404",
      "ORGANIZATION/%69nvoices": "404",
      "/v1%2Forganizations": "404",
      "/%76%31/networks": "404",
      "/v1/networks%2F": "404",
      "/v1/networks%00": "404",
      "/v1/%6fetworks": "404",
      "/health%7A": "404",
      "/docs/settings": "200",
      "/docs/%73ettings": "404",
    });
    const id = path.slice(path.lastIndexOf("/") + 1);
    const encoded = `%${id.charCodeAt(0).toString(16)}${id.slice(1)}`;
    expect(await answerTo("GET", path.replace(id, encoded))).to.equal("200");
  });

  it("depend on the letter case of every name", async () => {
    await expectAnswers("GET", {
      "/V1/networks": "404",
      "/v1/Networks": "404",
      "/v1/networks": "200",
      "ORGANIZATION/Invoices": "404",
      "/Healthz": "404",
      "/PAY/chk_1": "404",
      "/Docs": "404",
    });
  });

  it("prefer the name to the parameter in its place", async () => {
    await expectAnswers("POST", {
      "ORGANIZATION/invoices/batch": "400",
      "ORGANIZATION/invoices/batch/": "400",
    });
    await expectAnswers("DELETE", {
      "ORGANIZATION/invoices/batch": "405 HEAD, GET, PATCH, POST",
    });
  });

  it("answer HEAD like GET, where there is GET", async () => {
    await expectAnswers("HEAD", {
      ORGANIZATION: "200",
      "ORGANIZATION/invoices": "200",
      "/healthz": "200",
      "/v1/networks/": "200",
      "/v1/auth/login": "405 POST",
      "/v1/nothing": "404",
      "/nothing": "404",
    });
  });

  it("answer OPTIONS and methods that a path does not have by those that it has", async () => {
    const methods = {
      ORGANIZATION: "HEAD, GET, PATCH",
      "ORGANIZATION/invoices": "HEAD, GET, POST",
      "ORGANIZATION/wallets/x/capacity": "HEAD, GET",
      "ORGANIZATION/billing/invoices.csv": "HEAD, GET",
      "/v1/admin/organizations/x/credits": "HEAD, GET, POST",
      "/v1/auth/login": "POST",
      "/healthz": "HEAD, GET",
      "/docs/settings": "HEAD, GET",
      "/v1/openapi.json": "HEAD, GET",
      "/verify": "HEAD, GET, POST",
      "/pay/x/refund": "HEAD, GET, POST",
      "/link/x": "HEAD, GET, POST",
      "/": "HEAD, GET",
    };
    const answers = (status: number) =>
      Object.fromEntries(
        Object.entries(methods).map(([target, allowed]) => [
          target,
          `${String(status)} ${allowed}`,
        ]),
      );
    await expectAnswers("OPTIONS", answers(200));
    await expectAnswers("PUT", answers(405));
    await expectAnswers("PROPFIND", answers(405));
  });

  it("answer every method by 404 where there is no path", async () => {
    for (const method of ["GET", "HEAD", "OPTIONS", "POST", "DELETE", "PROPFIND"]) {
      await expectAnswers(method, {
        "/v1/nothing": "404",
        "/v1/nothing/": "404",
        "/v1": "404",
        "/nothing": "404",
        "ORGANIZATION/nothing": "404",
        "/pay": "404",
        "*": "404",
      });
    }
  });
});
