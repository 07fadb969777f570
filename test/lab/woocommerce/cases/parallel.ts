import { expect } from "chai";
import { sign } from "../../../../src/platform/outbound/standard-webhooks.ts";
import type { Case } from "../case.ts";
import {
  counting,
  createOrder,
  deliveriesOf,
  enableEndpoint,
  eventually,
  expectMailsOfPaidOrders,
  expectNotesOfPaidOrder,
  invoiceOf,
  payAt,
  placeByForm,
  untilDelivered,
  untilStatus,
  type Stage,
} from "../stage.ts";

const rounds = 20;
const loads = 3;
/** Rounds that are played at the same time. */
const roundsAtOnce = 4;
const ordersAtOnce = 25;
const deliveriesAtOnce = 100;

/** Pays an order, and loads its page three times at the moment at which the webhooks are sent. */
async function playRound(stage: Stage): Promise<number> {
  const created = await createOrder(stage.shop);
  const checkoutUrl = await placeByForm(created);
  const { receivedUrl } = await stage.shop.order(created.id);
  const { id } = await invoiceOf(stage, created.id);
  await payAt(checkoutUrl);
  await eventually(
    "a paid invoice",
    () => stage.till.api<{ status: string }>("GET", `/invoices/${id}`),
    ({ status }) => status === "paid",
  );
  const load = async () => {
    const answer = await fetch(receivedUrl);
    expect(answer.status).to.equal(200);
    await answer.text();
  };
  await Promise.all(Array.from({ length: loads }, load));
  return created.id;
}

/** Loads and deliveries at the same moment. */
export const parallel: readonly Case[] = [
  {
    name: "loads beside webhooks",
    promise: `In ${String(rounds)} rounds of ${String(loads)} loads of the return page beside the webhooks, stock, e-mails and notes change once.`,
    dependsOn: ["storage"],
    async run(stage) {
      const count = await counting(stage);
      const orders: number[] = [];
      while (orders.length < rounds) {
        const batch = Array.from({ length: roundsAtOnce }, () => playRound(stage));
        orders.push(...(await Promise.all(batch)));
      }
      for (const order of orders) await untilStatus(stage, order, "processing");
      await untilDelivered(stage);
      const effects = await count(...orders);
      expect(effects.unitsSold, "units sold").to.equal(rounds);
      expectMailsOfPaidOrders(effects, rounds);
      for (const order of orders) {
        expectNotesOfPaidOrder(await stage.shop.order(order));
        const own = await count(order);
        expectMailsOfPaidOrders(own, 1);
      }
    },
  },
  {
    name: "many deliveries at once",
    promise: `All deliveries for ${String(ordersAtOnce)} orders paid at once succeed at the first attempt.`,
    dependsOn: ["storage"],
    async run(stage) {
      const count = await counting(stage);
      await untilDelivered(stage);
      const known = new Set((await deliveriesOf(stage)).map(({ id }) => id));
      const orders: number[] = [];
      const pages: string[] = [];
      for (let made = 0; made < ordersAtOnce; made += 1) {
        const created = await createOrder(stage.shop);
        orders.push(created.id);
        pages.push(await placeByForm(created));
      }
      await Promise.all(pages.map(payAt));
      for (const order of orders) await untilStatus(stage, order, "processing");
      await untilDelivered(stage);
      const sent = (await deliveriesOf(stage)).filter(({ id }) => !known.has(id));
      expect(sent.length).to.be.at.least(deliveriesAtOnce);
      expect(sent.filter(({ attempts }) => attempts !== 1)).to.deep.equal([]);
      const effects = await count(...orders);
      expect(effects.unitsSold).to.equal(ordersAtOnce);
      expectMailsOfPaidOrders(effects, ordersAtOnce);
    },
  },
  {
    name: "deliveries of one order at once",
    promise: `${String(deliveriesAtOnce)} deliveries of one order's events at once are all answered with 2xx, and applied once.`,
    dependsOn: ["storage"],
    async run(stage) {
      const { shop, connection } = stage;
      const count = await counting(stage);
      const created = await createOrder(shop);
      const checkoutUrl = await placeByForm(created);
      // Otherwise the real ones would come first.
      await enableEndpoint(stage, false);
      await payAt(checkoutUrl);
      const invoice = await eventually(
        "a paid invoice",
        () => invoiceOf(stage, created.id),
        ({ status }) => status === "paid",
      );
      await enableEndpoint(stage, true);
      const event = { type: "invoice.paid", timestamp: new Date().toISOString(), data: invoice };
      const body = Buffer.from(JSON.stringify(event));
      const deliver = async (number: number) => {
        const headers = sign({
          id: `evt_${String(Math.floor(number / 2))}_${String(created.id)}`,
          timestampSeconds: Math.floor(Date.now() / 1_000),
          body,
          secrets: [connection.webhook_secret],
        });
        const answer = await fetch(`${shop.url}/?wc-api=till`, {
          method: "POST",
          headers: { ...headers, "Content-Type": "application/json" },
          body,
        });
        return answer.status;
      };
      const statuses = await Promise.all(
        Array.from({ length: deliveriesAtOnce }, (_none, number) => deliver(number)),
      );
      expect(statuses.filter((status) => status < 200 || status > 299)).to.deep.equal([]);
      await untilStatus(stage, created.id, "processing");
      const effects = await count(created.id);
      expect(effects.unitsSold).to.equal(1);
      expectMailsOfPaidOrders(effects, 1);
      expectNotesOfPaidOrder(await shop.order(created.id));
    },
  },
];
