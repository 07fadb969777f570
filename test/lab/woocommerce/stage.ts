import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import type { Page } from "playwright-core";
import { until } from "../../support/until.ts";
import type { Connection } from "./connect.ts";
import type { MariaDb } from "./mariadb.ts";
import type { CheckoutKind, Shop, ShopOrder } from "./shop.ts";
import type { TillBeside } from "./till-beside.ts";

/** An invoice as far as the proof looks at it. */
export interface Invoice {
  readonly id: string;
  readonly publicId: string;
  readonly status: string;
  readonly exception: string;
  readonly amount: string;
  readonly settlementCurrency: string;
  readonly externalId: string;
  readonly description: string | null;
  readonly checkoutId: string;
  readonly checkoutUrl: string;
  readonly transactionHashes: readonly string[];
}

interface Delivery {
  readonly id: string;
  readonly webhookEndpointId: string;
  readonly eventType: string;
  readonly status: string;
  readonly attempts: number;
  readonly responseStatus: number | null;
}

/** The time between two looks at a shop, in milliseconds: each of them starts WordPress. */
const lookMs = 300;

/** Waits for a state of a shop or its Till. */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T>,
  isGood: (answer: T) => boolean,
): Promise<T> {
  let isFirst = true;
  const look = async () => {
    if (!isFirst) await delay(lookMs);
    isFirst = false;
    return ask();
  };
  return until(what, look, isGood);
}

/** A shop with its Till, on which a case is played. */
export interface Stage {
  readonly parent: string;
  readonly database: MariaDb;
  readonly shop: Shop;
  readonly till: TillBeside;
  readonly connection: Connection;
  readonly checkout: CheckoutKind;
  /** Opens a page in a browser of its own, which is closed after the case. */
  page(): Promise<Page>;
}

/** Opens Till's page for a new order of the shop; returns the order's id. */
export async function orderAtTill(
  { shop }: Pick<Stage, "shop">,
  page: Page,
  { currency = "USD", total = null as string | null, quantity = 1 } = {},
): Promise<number> {
  const created = await createOrder(shop, { currency, total, quantity });
  await page.goto(await placeByForm(created));
  return created.id;
}

interface CreatedOrder {
  readonly id: number;
  readonly payUrl: string;
}

export async function createOrder(
  shop: Shop,
  { currency = "USD", total = null as string | null, quantity = 1 } = {},
): Promise<CreatedOrder> {
  return shop.control<CreatedOrder>("create_order", quantity, currency, total);
}

/** Sends the form of an order's payment page without a browser; returns the address of Till's page. */
export async function placeByForm({ payUrl }: CreatedOrder): Promise<string> {
  const page = await fetch(payUrl);
  const nonce = /name="woocommerce-pay-nonce" value="([^"]+)"/.exec(await page.text())?.[1] ?? "";
  const answer = await fetch(payUrl, {
    method: "POST",
    // The nonce is that of the visitor's session.
    headers: {
      Cookie: page.headers
        .getSetCookie()
        .map((each) => each.split(";", 1)[0])
        .join("; "),
    },
    body: new URLSearchParams({
      woocommerce_pay: "1",
      payment_method: "till",
      "woocommerce-pay-nonce": nonce,
    }),
    redirect: "manual",
  });
  const location = answer.headers.get("location") ?? "";
  if (!location.includes("/pay/chk_")) throw new Error(`the order was not placed: ${location}`);
  return location;
}

/** Presses the button "Pay" of Till's page without a browser. */
export async function payAt(checkoutUrl: string): Promise<void> {
  const answer = await fetch(`${checkoutUrl}/sandbox`, {
    method: "POST",
    body: new URLSearchParams({ action: "pay" }),
    redirect: "manual",
  });
  if (answer.status !== 303) throw new Error(`the sandbox answered ${String(answer.status)}`);
}

/** Returns the invoice that an order waits for. */
export async function invoiceOf({ shop, till }: Stage, order: number): Promise<Invoice> {
  const meta = await shop.control<Record<string, readonly string[]>>("meta", order);
  const id = meta["_till_current_invoice"]?.[0];
  if (id === undefined) throw new Error(`order ${String(order)} has no invoice`);
  return till.api<Invoice>("GET", `/invoices/${id}`);
}

export async function untilInvoice(stage: Stage, order: number, status: string): Promise<Invoice> {
  const { id } = await invoiceOf(stage, order);
  return eventually(
    `invoice of order ${String(order)} ${status}`,
    () => stage.till.api<Invoice>("GET", `/invoices/${id}`),
    (invoice) => invoice.status === status,
  );
}

export async function untilOrder(
  { shop }: Pick<Stage, "shop">,
  id: number,
  isGood: (order: ShopOrder) => boolean,
  what = "as expected",
): Promise<ShopOrder> {
  return eventually(`order ${String(id)} ${what}`, () => shop.order(id), isGood);
}

export async function untilStatus(stage: Pick<Stage, "shop">, id: number, status: string) {
  return untilOrder(stage, id, (order) => order.status === status, status);
}

/** Returns the id of the endpoint that delivers to the shop. */
async function endpointOf({ shop, till }: Stage): Promise<string> {
  const { data } = await till.api<{ data: readonly { id: string; url: string }[] }>(
    "GET",
    "/webhook-endpoints?limit=100",
  );
  const found = data.find(({ url }) => url.startsWith(`${shop.url}/`));
  if (found === undefined) throw new Error(`${shop.url} has no endpoint`);
  return found.id;
}

/** Lets Till deliver to the shop, or give up all deliveries. */
export async function enableEndpoint(stage: Stage, isEnabled: boolean): Promise<void> {
  const status = isEnabled ? "enabled" : "disabled";
  await stage.till.run("webhook", "update", await endpointOf(stage), "--status", status);
}

/** Returns the deliveries to the shop, of all times. */
export async function deliveriesOf(stage: Stage): Promise<readonly Delivery[]> {
  const endpoint = await endpointOf(stage);
  const all: Delivery[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const query = new URLSearchParams({ limit: "100", webhookEndpointId: endpoint });
    if (cursor !== "") query.set("cursor", cursor);
    const listed: { data: readonly Delivery[]; nextCursor: string | null } = await stage.till.api(
      "GET",
      `/webhook-deliveries?${query.toString()}`,
    );
    all.push(...listed.data);
    cursor = listed.nextCursor;
  }
  return all;
}

/** Waits until no delivery to the shop waits for an attempt. */
export async function untilDelivered(stage: Stage): Promise<void> {
  const endpoint = await endpointOf(stage);
  const waiting = async () => {
    const found = ["pending", "in_progress", "failed"].map((status) =>
      stage.till.api<{ data: readonly unknown[] }>(
        "GET",
        `/webhook-deliveries?limit=1&webhookEndpointId=${endpoint}&status=${status}`,
      ),
    );
    return (await Promise.all(found)).flatMap(({ data }) => data);
  };
  await eventually("all deliveries", waiting, ({ length }) => length === 0);
}

/** Changes in the shop, apart from orders' statuses. */
export interface Effects {
  readonly unitsSold: number;
  /** The number of e-mails of each kind about the orders. */
  readonly mails: Readonly<Record<string, number>>;
}

/** Begins to count; the answer counts until it is called. */
export async function counting({ shop }: Pick<Stage, "shop">) {
  const stock = await shop.control<number>("stock");
  return async (...orders: readonly number[]): Promise<Effects> => {
    const mails: Record<string, number> = {};
    for (const { kind, order } of shop.mails()) {
      if (orders.includes(order)) mails[kind] = (mails[kind] ?? 0) + 1;
    }
    return { unitsSold: stock - (await shop.control<number>("stock")), mails };
  };
}

/** Asserts that an order was completed by exactly one payment, and that nothing was done twice. */
export async function expectPaidOnce(
  stage: Stage,
  id: number,
  count: Awaited<ReturnType<typeof counting>>,
  unitsSold = 1,
): Promise<ShopOrder> {
  await untilStatus(stage, id, "processing");
  await untilDelivered(stage);
  const order = await stage.shop.order(id);
  const invoice = await invoiceOf(stage, id);
  expect(order.status).to.equal("processing");
  expect(invoice.transactionHashes).to.include(order.transaction);
  const effects = await count(id);
  expect(effects.unitsSold, "units sold").to.equal(unitsSold);
  expectMailsOfPaidOrders(effects, 1);
  expectNotesOfPaidOrder(order);
  return order;
}

/** Asserts that everyone got each e-mail once. An order that waited for confirmations has one more. */
export function expectMailsOfPaidOrders({ mails }: Effects, orders: number): void {
  const { customer_on_hold_order: held = 0, ...others } = mails;
  expect(others).to.deep.equal({ new_order: orders, customer_processing_order: orders });
  expect(held, "e-mails about orders on hold").to.be.at.most(orders);
}

export function expectNotesOfPaidOrder({ notes, transaction }: ShopOrder): void {
  const matching = (words: RegExp) => notes.filter((note) => words.test(note)).length;
  expect(matching(/is paid/), `notes that it is paid: ${notes.join(" | ")}`).to.equal(1);
  expect(matching(/^Stock levels reduced/), "notes about the stock").to.equal(1);
  expect(new Set(notes).size, `a note is there twice: ${notes.join(" | ")}`).to.equal(notes.length);
  const hashes = notes.join("\n").split(transaction).length - 1;
  expect(hashes, "the hash in the notes").to.be.at.most(1);
}

/** Asserts that PHP and WordPress complained about nothing since the last time. */
export function expectNoComplaints(shop: Shop): void {
  const complaints = shop.complaints();
  if (complaints !== "") throw new Error(`debug.log: ${complaints}`);
}
