import { expect } from "chai";
import { Webhook } from "standardwebhooks";
import { approve, platformKey } from "../support/platform.ts";
import {
  expectStatus,
  legalFields,
  register,
  type Answer,
  type Person,
  type TestApp,
} from "../support/app.ts";
import type { Receiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

/** A merchant with everything that a first invoice needs, each created by its operation. */
export interface Shop extends Person {
  readonly key: string;
  /** `/v1/organizations/{organizationId}` */
  readonly path: string;
  readonly webhookSecret: string;
}

/** Registers a merchant, has it approved, and creates an API key, a wallet and a webhook endpoint. */
export async function openShop(
  app: TestApp,
  wallet: { readonly network: string; readonly address?: string; readonly xpub?: string },
  receiver: Receiver,
): Promise<Shop> {
  const person = await register(app);
  const path = `/v1/organizations/${person.organizationId}`;
  const { token } = person;
  await expectStatus(app.request("PATCH", path, { token, body: legalFields }), 200);
  await expectStatus(app.request("POST", `${path}/kyb/submit`, { token }), 200);
  await approve(app, await platformKey(app), person.organizationId);
  const made = await expectStatus(
    app.request("POST", `${path}/api-keys`, {
      token,
      body: { name: "shop", scopes: ["read", "write"] },
    }),
    201,
  );
  const key = made.body["secret"] as string;
  await expectStatus(
    app.request("POST", `${path}/wallets`, { key, body: { label: "Till", ...wallet } }),
    201,
  );
  const endpoint = await expectStatus(
    app.request("POST", `${path}/webhook-endpoints`, { key, body: { url: receiver.url } }),
    201,
  );
  return { ...person, path, key, webhookSecret: endpoint.body["secret"] as string };
}

/** Issues an invoice of 25 USD in USDT after the network was reached for the first time. */
export async function issueInvoice(
  app: TestApp,
  shop: Shop,
  network: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Record<string, unknown>> {
  const body = { amount: "25", settlementCurrency: "USD", tokenSymbol: "USDT", network, ...more };
  const answer = await until(
    "an issued invoice",
    () => app.request("POST", `${shop.path}/invoices`, { key: shop.key, body }),
    ({ status }) => status !== 503,
  );
  expect(answer.status, answer.text).to.equal(201);
  return answer.body;
}

export interface Session {
  readonly invoice: Readonly<Record<string, string>>;
  readonly confirmationProgress: { readonly current: number; readonly required: number };
  readonly receipt: Readonly<Record<string, unknown>> | null;
}

/** Returns the checkout session that the payer sees. */
export async function checkout(app: TestApp, invoice: Record<string, unknown>): Promise<Session> {
  const answer = await expectStatus(
    app.request("GET", `/v1/checkout/${String(invoice["checkoutId"])}`),
    200,
  );
  return answer.body as unknown as Session;
}

export function checkoutIs(
  app: TestApp,
  invoice: Record<string, unknown>,
  status: string,
): Promise<Session> {
  return until(
    `checkout ${status}`,
    () => checkout(app, invoice),
    (session) => session.invoice["status"] === status,
  );
}

export function readInvoice(
  app: TestApp,
  shop: Shop,
  invoice: Record<string, unknown>,
): Promise<Answer> {
  return app.request("GET", `${shop.path}/invoices/${String(invoice["id"])}`, { key: shop.key });
}

/** Returns the received events of a type, each verified by the public library. */
export async function webhooksOf(
  receiver: Receiver,
  secret: string,
  type: string,
): Promise<Record<string, unknown>[]> {
  const verifier = new Webhook(secret);
  const bodies = await until(
    `a webhook ${type}`,
    () =>
      receiver.received.map(
        ({ headers, body }) =>
          verifier.verify(body, headers as Record<string, string>) as Record<string, unknown>,
      ),
    (events) => events.some((event) => event["type"] === type),
  );
  return bodies.filter((event) => event["type"] === type);
}
