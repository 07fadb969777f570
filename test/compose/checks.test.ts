// Each check finds the row that was broken behind the program's back, and nothing else does; a store that the program
// alone has written is whole.
import { expect } from "chai";
import { billingChecks } from "../../src/features/billing/checks.ts";
import { transfers } from "../../src/features/payments/table.ts";
import { storeChecks, verifyStore } from "../../src/compose/checks.ts";
import { second } from "../../src/kernel/clock.ts";
import { parseAddress } from "../../src/platform/chain/evm/addresses.ts";
import { auditKey } from "../support/secret.ts";
import { sealAll } from "../../src/platform/audit/head.ts";
import type { Reader, Tx } from "../../src/platform/database/database.ts";
import { openMarket } from "../features/payments/ledger/paid-invoice-fixture.ts";
import { makeFakeChain } from "../support/chain/fake-chain.ts";
import { xpubs } from "../support/merchants.ts";
import { openShop } from "../support/invoice-services-fixture.ts";
import { eachStore, testContext, whileBroken, type TestStore } from "../support/store/stores.ts";

const blockMs = 12 * second;

const newestPayment = "(SELECT MAX(id) FROM payments)";

/** A store with something in every table that is checked: paid, partly paid and open invoices, a webhook and a review. */
async function openHouse(store: TestStore) {
  const db = await store.open();
  const shop = await openShop(db, "ethereum");
  const startAt = shop.now() - 200 * blockMs;
  const chain = makeFakeChain({ startAt, blockMs, finalityLag: 30, chainId: 1 });
  chain.mine([], 199);
  const market = openMarket(shop, "ethereum", chain.client);
  await market.look();
  const contract = shop.networks
    .get("ethereum")
    ?.tokens.find(({ symbol }) => symbol === "USDT")?.contract;
  if (contract === undefined) throw new Error("the token is gone");
  const xpub = await shop.addWallet("ethereum", { xpub: xpubs.first });
  const issue = (text = {}) => shop.create({ network: "ethereum", ...text });
  const paid = await issue({ description: "A red hat" });
  const part = await issue({ metadata: { channel: "web" } });
  const open = await issue();
  const shared = await shop.addWallet("ethereum", { address: `0x${"7".repeat(40)}` });
  const severalAt = (walletId: typeof shared.id) =>
    shop.create({
      network: undefined,
      tokenSymbol: undefined,
      paymentOptions: ["USDT", "USDC"].map((tokenSymbol) => ({
        network: "ethereum",
        tokenSymbol,
        walletId,
      })),
    });
  const several = await severalAt(shared.id);
  await severalAt(xpub.id);
  const pay = (text: string | null, transaction: string, amount: bigint) => {
    const to = parseAddress(text ?? "");
    if (!to.ok) throw new Error("there is nowhere to pay to");
    chain.mine([{ transaction, contract, to: to.address, amount }]);
  };
  pay(paid.walletAddress, "whole", 25_000_000n);
  pay(part.walletAddress, "part", 10_000_000n);
  chain.mine([], 12);
  shop.advance(16 * blockMs);
  await market.look();
  await db.write(testContext, async (tx) => {
    await tx.run(
      `INSERT INTO idempotency_keys (claim, fingerprint, status, body, is_sealed, created_at)
       VALUES ('a claim', 'f', 201, '{}', 0, 1)`,
    );
    await tx.run(
      "UPDATE events SET position = (SELECT COUNT(*) FROM events AS before WHERE before.id <= events.id)",
    );
    await tx.run(
      `INSERT INTO organization_reviews (id, organization_id, decision, from_status, to_status, created_at)
       VALUES ('rev_1', $1, 'submitted', 'unverified', 'pending_review', 1)`,
      [shop.organizationId],
    );
    await tx.run("UPDATE organizations SET verification_status = 'pending_review' WHERE id = $1", [
      shop.organizationId,
    ]);
    await tx.run(
      `INSERT INTO customers (id, organization_id, name, metadata, version, created_at, updated_at)
       VALUES ('cus_1', $1, 'Ada Lovelace', '{}', 1, 1, 1)`,
      [shop.organizationId],
    );
    await tx.run(
      `INSERT INTO customer_terms (organization_id, term, customer_id)
       VALUES ($1, 'ada', 'cus_1'), ($1, 'lovelace', 'cus_1')`,
      [shop.organizationId],
    );
    // Two refunds of one payment that came to nothing.
    for (const id of ["rfd_1", "rfd_2"]) {
      await tx.run(
        `INSERT INTO refunds (id, organization_id, invoice_id, payment_id, source, status, network, token,
           token_decimals, amount, address, from_address, payment_hash, payment_rule, payment_height, attempts, next_at, version,
           created_at, updated_at)
         SELECT $1, organization_id, invoice_id, id, 'payer', 'rejected', network, token, token_decimals, amount,
           'to', 'from', transaction_hash, rule, block_height, 0, 1, 1, 1, 1
         FROM payments WHERE id = ${newestPayment}`,
        [id],
      );
    }
  });
  await sealAll(db, auditKey, testContext);
  return { db, shop, paid, part, open, several };
}

type House = Awaited<ReturnType<typeof openHouse>>;

interface Breakage {
  readonly check: string;
  /** Tells apart several ways to break a check. */
  readonly how?: string;
  /** Others that the same row breaks. */
  readonly also?: readonly string[];
  readonly sql: (house: House) => string;
  /** Part of the row's name in the report. */
  readonly row: (house: House) => string;
}

const breakages: readonly Breakage[] = [
  {
    check: "audit.chain",
    sql: () => "UPDATE audit_logs SET actor_label = 'nobody' WHERE position = 2",
    row: () => "aud_",
  },
  {
    check: "events.dense-positions",
    sql: () => "DELETE FROM events WHERE position = 2",
    row: () => "evt_",
  },
  {
    check: "idempotency.answers",
    sql: () => "UPDATE idempotency_keys SET status = 500",
    row: () => "a claim",
  },
  {
    check: "organizations.verification",
    sql: () => "UPDATE organizations SET verification_status = 'approved'",
    row: ({ shop }) => shop.organizationId,
  },
  {
    check: "wallets.claimed",
    sql: () => "DELETE FROM wallet_claims WHERE kind = 'xpub'",
    row: () => "wal_",
  },
  {
    check: "wallets.default",
    sql: ({ shop }) =>
      `UPDATE wallets SET position = 1 WHERE position = 0 AND organization_id = '${shop.organizationId}'`,
    row: ({ shop }) => shop.organizationId,
  },
  {
    check: "wallets.paid-index",
    sql: () => "UPDATE wallet_claims SET next_index = 1 WHERE kind = 'xpub'",
    row: () => "evm ",
  },
  {
    check: "invoices.status",
    also: ["figures.facts"],
    sql: ({ part }) => `UPDATE invoices SET status = 'paid' WHERE id = '${part.id}'`,
    row: ({ part }) => part.id,
  },
  {
    check: "invoices.own-address",
    sql: ({ open }) =>
      `UPDATE wallet_claims SET derived_state = 'free' WHERE identity = (
         SELECT address FROM holds WHERE invoice_id = '${open.id}'
       )`,
    row: () => "hld_",
  },
  {
    check: "transfers.derived",
    sql: ({ paid }) =>
      `UPDATE wallet_claims SET derived_state = 'held' WHERE identity = (
         SELECT address FROM holds WHERE invoice_id = '${paid.id}'
       )`,
    row: () => "trf_",
  },
  {
    check: "invoices.held",
    sql: ({ open }) => `UPDATE holds SET released_at = 1 WHERE invoice_id = '${open.id}'`,
    row: ({ open }) => open.id,
  },
  {
    check: "invoices.counted",
    sql: ({ open }) => `UPDATE invoices SET counted_at = NULL WHERE id = '${open.id}'`,
    row: ({ open }) => open.id,
  },
  {
    check: "invoices.counted",
    how: "money for an invoice of a link did not count",
    sql: ({ paid }) =>
      `UPDATE invoices SET counted_at = NULL, started_at_link = 'lnk_1' WHERE id = '${paid.id}'`,
    row: ({ paid }) => paid.id,
  },
  {
    check: "invoices.options",
    how: "it has options and none of them is in force",
    sql: ({ open }) =>
      `UPDATE invoices SET payment_options = '[{"network":"bsc","tokenSymbol":"USDT","walletId":null,"quote":null},{"network":"bsc","tokenSymbol":"USDC","walletId":null,"quote":null}]' WHERE id = '${open.id}'`,
    row: ({ open }) => open.id,
  },
  {
    check: "invoices.options",
    how: "a hold is in an option that was not chosen",
    sql: ({ several }) =>
      `INSERT INTO holds (id, network, address, token, amount, least_amount, invoice_id, organization_id, kind, starts_at, ends_at)
       SELECT 'hld_of_bsc', 'bsc', address, token, amount, least_amount, invoice_id, organization_id, kind, starts_at, ends_at
       FROM holds WHERE invoice_id = '${several.id}'`,
    row: ({ several }) => several.id,
  },
  {
    check: "invoices.options",
    how: "the option in force has no hold",
    also: ["invoices.held"],
    sql: ({ several }) => `DELETE FROM holds WHERE invoice_id = '${several.id}'`,
    row: ({ several }) => several.id,
  },
  {
    check: "invoices.search-terms",
    how: "a term has no row",
    sql: () => "DELETE FROM invoice_terms WHERE term = 'd:hat'",
    row: ({ paid }) => paid.id,
  },
  {
    check: "invoices.search-terms",
    how: "a row has another term",
    sql: () => "UPDATE invoice_terms SET term = 'm:7:channel=fax' WHERE term = 'm:7:channel=web'",
    row: ({ part }) => part.id,
  },
  {
    check: "invoices.search-terms",
    how: "a description has changed since",
    sql: ({ paid }) => `UPDATE invoices SET description = 'A hat' WHERE id = '${paid.id}'`,
    row: ({ paid }) => paid.id,
  },
  {
    check: "invoices.search-terms",
    how: "a row is of another organization",
    sql: ({ paid }) =>
      `INSERT INTO invoice_terms (organization_id, term, invoice_id) VALUES ('org_of_another', 'd:hat', '${paid.id}')`,
    row: ({ paid }) => paid.id,
  },
  {
    check: "invoices.search-terms",
    how: "a row is of an invoice that is gone",
    sql: ({ shop }) =>
      `INSERT INTO invoice_terms (organization_id, term, invoice_id) VALUES ('${shop.organizationId}', 'd:hat', 'inv_of_nobody')`,
    row: () => "inv_of_nobody",
  },
  {
    check: "customers.search-terms",
    how: "a word of the name has no row",
    sql: () => "DELETE FROM customer_terms WHERE term = 'ada'",
    row: () => "cus_1",
  },
  {
    check: "customers.search-terms",
    how: "a row is of another organization",
    sql: () =>
      "INSERT INTO customer_terms (organization_id, term, customer_id) VALUES ('org_of_another', 'ada', 'cus_1')",
    row: () => "cus_1",
  },
  {
    check: "customers.search-terms",
    how: "a row is of a customer who is gone",
    sql: ({ shop }) =>
      `INSERT INTO customer_terms (organization_id, term, customer_id) VALUES ('${shop.organizationId}', 'ada', 'cus_of_nobody')`,
    row: () => "cus_of_nobody",
  },
  {
    check: "holds.unique",
    also: ["invoices.own-address"],
    sql: ({ paid, open }) =>
      `UPDATE holds SET token = 'USDT', address = (SELECT address FROM holds AS other WHERE other.invoice_id = '${paid.id}')
       WHERE invoice_id = '${open.id}'`,
    row: () => "hld_",
  },
  {
    check: "holds.invoice",
    sql: ({ open }) =>
      `UPDATE holds SET kind = 'amount', token = 'USDC' WHERE invoice_id = '${open.id}'`,
    row: () => "hld_",
  },
  {
    check: "holds.window",
    sql: ({ open }) => `UPDATE holds SET ends_at = ends_at + 1 WHERE invoice_id = '${open.id}'`,
    row: () => "hld_",
  },
  {
    check: "payments.ledger",
    also: ["invoices.status"],
    sql: ({ part }) =>
      `UPDATE invoices SET seen_amount = confirmed_amount, latest_block = 1 WHERE id = '${part.id}'`,
    row: ({ part }) => part.id,
  },
  {
    check: "payments.ledger",
    also: ["figures.facts"],
    sql: () =>
      `UPDATE payments SET settlement_amount = (SELECT MAX(amount) FROM invoices) WHERE id = ${newestPayment}`,
    row: () => "pay_",
  },
  {
    check: "payments.within-transfer",
    also: ["payments.transfer"],
    sql: () =>
      "UPDATE transfers SET amount = SUBSTR('0' || amount, 1, 78) WHERE id = (SELECT MAX(id) FROM transfers)",
    row: () => "trf_",
  },
  {
    check: "payments.transfer",
    sql: () => `UPDATE payments SET block_hash = 'another' WHERE id = ${newestPayment}`,
    row: () => "pay_",
  },
  {
    check: "payments.owner",
    sql: () =>
      "UPDATE transfers SET organization_id = 'org_of_another' WHERE id = (SELECT MAX(id) FROM transfers)",
    row: () => "pay_",
  },
  {
    check: "payments.invoice",
    also: ["payments.transfer", "payments.ledger", "refunds.payment"],
    sql: () => `UPDATE payments SET token = 'USDC' WHERE id = ${newestPayment}`,
    row: () => "pay_",
  },
  {
    check: "payments.confirmed",
    sql: () => `UPDATE payments SET confirmed_at = NULL WHERE id = ${newestPayment}`,
    row: () => "pay_",
  },
  {
    check: "refunds.surplus",
    also: ["payments.ledger"],
    sql: () => `UPDATE payments SET refunded = amount WHERE id = ${newestPayment}`,
    row: () => "pay_",
  },
  {
    check: "refunds.payment",
    sql: () => "UPDATE refunds SET token = 'USDC' WHERE id = 'rfd_1'",
    row: () => "rfd_1",
  },
  {
    check: "refunds.transaction",
    sql: () => "UPDATE refunds SET transaction_hash = 'a hash' WHERE id = 'rfd_1'",
    row: () => "rfd_1",
  },
  {
    check: "payments.refunds",
    sql: () => `UPDATE payments SET refund_requested = amount WHERE id <> ${newestPayment}`,
    row: () => "pay_",
  },
  {
    check: "transfers.final",
    sql: () =>
      `UPDATE transfers SET is_final = 1, block_height = (SELECT MAX(cursor_height) + 1 FROM network_states)
       WHERE id = (SELECT MAX(transfer_id) FROM payments)`,
    also: ["payments.transfer"],
    row: () => "trf_",
  },
  {
    check: "figures.facts",
    sql: () =>
      "DELETE FROM figure_changes WHERE id = (SELECT MAX(id) FROM figure_changes WHERE measure = 'volume')",
    row: () => "volume USD",
  },
];

/** Not by one row that changes: their indexes refuse it, or they need more than a shop. */
const shownElsewhere = ["transfers.once", "refunds.transaction-once", "figures.hours", "webhooks."];
/** The checks that the tests of billing cover. */
const billingNames = new Set(billingChecks.map(({ name }) => name));

async function broken(db: Reader): Promise<Map<string, readonly string[]>> {
  const results = await verifyStore(db, auditKey);
  return new Map(
    results
      .filter(({ violations }) => violations.length > 0)
      .map(({ check, violations }) => [check.name, violations.map(({ row }) => row)]),
  );
}

eachStore("The store's consistency checks", (store) => {
  let house: House;
  before(async () => {
    house = await openHouse(store);
  });

  it("pass on a store that only the program has written", async () => {
    expect([...(await broken(house.db))]).to.deep.equal([]);
  });

  for (const { check, how, also = [], sql, row } of breakages) {
    const names = [check, ...also].join(" and ");
    it(`name the row that breaks ${names}${how === undefined ? "" : `: ${how}`}`, async () => {
      const found = await whileBroken(house.db, (tx) => tx.run(sql(house)), broken);
      expect([...found.keys()]).to.include(check);
      expect([check, ...also]).to.include.members([...found.keys()]);
      expect(found.get(check)?.some((named) => named.includes(row(house)))).to.equal(true);
    });
  }

  it("let a sweep of deadlines follow later: it expires or reopens an invoice", async () => {
    const { db, open } = house;
    const expired = `UPDATE invoices SET status = 'expired' WHERE id = '${open.id}'`;
    const late = `UPDATE network_states SET tip_time = ${String(open.expiresAt)} + 1`;
    for (const changes of [[late], [expired], [expired, late]]) {
      const change = async (tx: Tx): Promise<void> => {
        for (const sql of changes) await tx.run(sql);
      };
      const found = await whileBroken(db, change, broken);
      expect([...found.keys()], changes.join()).not.to.include("invoices.status");
    }
  });

  it("find two rows of one transfer, two refunds with one transaction, hours that do not sum up, and misrouted deliveries", async () => {
    const { db, shop } = house;
    const breakAll = async (tx: Tx): Promise<void> => {
      await tx.run("DROP INDEX refunds_hash");
      await tx.run("UPDATE refunds SET transaction_hash = 'one'");
      await tx.run("DROP INDEX transfers_identity");
      const row = await tx.findOne(transfers, "ORDER BY id LIMIT 1", []);
      if (row === null) throw new Error("there is no transfer");
      await tx.insert(transfers, { ...row, id: "trf_copy" });
      await tx.run(
        `INSERT INTO figures (organization_id, measure, grain, starts_at, currency, subject, items, sign, amount)
         VALUES ('platform', 'volume', 'hour', 3600000, 'USD', '', 1, 1, $1)`,
        ["0".repeat(78)],
      );
      await tx.run(
        `INSERT INTO webhook_endpoints (id, organization_id, url, event_types, status, secret, failing_notices,
           api_version, last_sequence, version, created_at, updated_at)
         VALUES ('wep_1', $1, 'https://shop.example', '["payment.confirmed"]', 'enabled', 's', 0, 'v1', 0, 1, 1, 1)`,
        [shop.organizationId],
      );
      await tx.run(
        `INSERT INTO webhook_deliveries (id, organization_id, endpoint_id, event_id, event_type, status, sequence,
           attempts, created_at, body)
         SELECT 'whd_1', organization_id, 'wep_1', id, type, 'pending', 7, 0, 1, '{}' FROM events
         WHERE id = (SELECT MIN(id) FROM events WHERE type = 'payment.confirmed')`,
      );
    };
    const found = await whileBroken(db, breakAll, broken);
    expect([...found.keys()].sort()).to.deep.equal(
      [
        "figures.hours",
        "refunds.transaction",
        "refunds.transaction-once",
        "transfers.once",
        "webhooks.delivery-due",
        "webhooks.every-event",
        "webhooks.sequence",
      ].sort(),
    );
    expect(found.get("webhooks.every-event")).to.have.length(1);
    expect(found.get("webhooks.sequence")).to.deep.equal(["whd_1"]);
    expect(found.get("figures.hours")).to.deep.equal(["platform volume USD 1970-01-01"]);
  });

  it("are each shown to find a violation", () => {
    const shown = new Set(breakages.map(({ check }) => check));
    const others = storeChecks(auditKey).filter(
      ({ name }) =>
        !shown.has(name) &&
        !billingNames.has(name) &&
        !shownElsewhere.some((known) => name.startsWith(known)),
    );
    expect(others.map(({ name }) => name)).to.deep.equal([]);
  });
});
