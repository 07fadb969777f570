// Compares the event bodies of billing, type by type, with the golden bodies and with the API records.
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { expect } from "chai";
import { reorganizeSandbox } from "../../../src/features/payments/sandbox/sandbox.ts";
import { openApiDocument } from "../../../src/http/document/openapi.ts";
import { watchUsage } from "../../../src/features/billing/subscriptions/usage-watch.ts";
import { allOperations } from "../../../src/features/index.ts";
import { eventCatalogue } from "../../../src/platform/events/catalogue.ts";
import { createRelay, eventBody, events } from "../../../src/platform/events/outbox.ts";
import { expectStatus, type Merchant, type Json } from "../../support/app.ts";
import { formatted } from "../../support/formatted.ts";
import { xpubOf } from "../../support/merchants.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";
import {
  bodyFaults,
  normalize,
  recordsByType,
  shapeOf,
  type Schemas,
} from "../events/golden-bodies.ts";
import { openEstate, plansFile, type Estate } from "./billing-fleet.ts";

const types = Object.keys(eventCatalogue.billing);
const goldenFile = new URL("../events/golden/billing.json", import.meta.url);
const isWriting = process.env["TILL_GOLDEN"] === "write";
const file = plansFile({
  growth: { price: "49.00", trialDays: 14, includedInvoices: 2, overagePrice: "0.35" },
  scale: { price: "199.00", trialDays: 14 },
});

eachStore("the bodies of billing's events", (store) => {
  let estate: Estate;
  let sent: ReadonlyMap<string, Json>;

  before(async () => {
    const settings = { TILL_PLANS_FILE: file };
    estate = await openEstate({ place: await store.place("migrated"), settings });
    await owes(await join(1));
    await pays(await join(2));
    const rows = await estate.db.find(events, "ORDER BY id");
    const found = new Map<string, Json>();
    for (const row of rows) if (!found.has(row.type)) found.set(row.type, eventBody(row));
    sent = found;
  });
  after(() => estate.stop());

  async function join(place: number): Promise<Merchant> {
    const merchant = await estate.merchant();
    await merchant.addWallet({ xpub: xpubOf(place) });
    return merchant;
  }

  /** Changes the plan in the trial, pays late, and then stops paying. */
  async function owes(shop: Merchant): Promise<void> {
    await expectStatus(estate.select(shop, "scale"), 200);
    await expectStatus(estate.change(shop, "growth"), 200);
    await estate.live(11.5);
    await estate.live(3);
    await estate.live(7.5);
    await estate.pay((await estate.subscription(shop)).openInvoice?.id ?? "");
    await estate.live(30);
    await estate.live(8);
    await estate.live(8);
    await estate.live(31);
    expect((await estate.subscription(shop)).status).to.equal("canceled");
  }

  /**
   * Overpays, loses the payment in a reorganization and pays again, issues invoices, and changes the plan several
   * times.
   */
  async function pays(shop: Merchant): Promise<void> {
    await expectStatus(estate.select(shop, "growth"), 200);
    const first = (await estate.subscription(shop)).openInvoice?.id ?? "";
    await estate.pay(first, 50_000_000n);
    await reorganizeSandbox(estate.app.app, testContext, 5, { drop: true });
    await estate.look();
    await estate.pay(first);
    await estate.live(14.01);
    const body = {
      amount: "5",
      settlementCurrency: "USD",
      tokenSymbol: "USDT",
      network: "sandbox",
    };
    for (let made = 0; made < 2; made += 1) {
      await shop.issue(body);
    }
    const { app } = estate.app;
    const relay = createRelay({
      db: estate.db,
      leases: app.leases,
      subscribers: [(tx, relayed) => watchUsage(tx, app, relayed)],
      context: testContext,
    });
    while (await relay.run(new AbortController().signal));
    await expectStatus(estate.change(shop, "scale"), 200);
    await expectStatus(estate.change(shop, "growth"), 200);
    await expectStatus(estate.change(shop, "scale"), 200);
    await estate.live(31.1);
    await estate.pay((await estate.subscription(shop)).openInvoice?.id ?? "");
  }

  it("have the shapes of the golden bodies", async () => {
    expect(
      types.filter((type) => !sent.has(type)),
      "types that nothing raised",
    ).to.deep.equal([]);
    const bodies = Object.fromEntries(types.map((type) => [type, normalize(sent.get(type))]));
    if (isWriting) {
      await writeFile(goldenFile, await formatted("bodies.json", JSON.stringify(bodies)));
    }
    const before = golden();
    expect(Object.keys(before)).to.have.members(types);
    for (const [type, body] of Object.entries(bodies)) {
      expect(shapeOf(body), type).to.deep.equal(shapeOf(before[type]));
    }
  });
});

const golden = () => JSON.parse(readFileSync(goldenFile, "utf8")) as Readonly<Record<string, Json>>;

describe("the golden bodies of billing's events", () => {
  const { components } = openApiDocument(allOperations, "1") as {
    components: { schemas: Schemas };
  };
  const records = recordsByType(
    readFileSync(new URL("../../../docs/events.md", import.meta.url), "utf8"),
  );

  it("match the records that docs/events.md names", () => {
    for (const type of types) {
      const faults = bodyFaults(
        golden()[type] ?? {},
        type,
        records.get(type) ?? "",
        components.schemas,
      );
      expect(faults, type).to.deep.equal([]);
    }
  });
});
