// The operator's commands for merchants' objects.
import { expect } from "chai";
import { getInvoice } from "../../../src/features/invoices/invoices.ts";
import { listPayments } from "../../../src/features/payments/payments.ts";
import { AdminPaymentListRecord } from "../../../src/features/admin/oversight-records.ts";
import { scopes } from "../../../src/http/declare/permissions.ts";
import { ApiKeyListRecord } from "../../../src/features/api-keys/records.ts";
import {
  InvoiceListRecord,
  InvoiceRecord,
  presentInvoice,
} from "../../../src/features/invoices/records.ts";
import { presentPayment } from "../../../src/features/payments/records.ts";
import {
  DefaultWalletListRecord,
  WalletListRecord,
  WalletRecord,
} from "../../../src/features/wallets/records.ts";
import { createWallet } from "../../../src/features/wallets/wallets.ts";
import { context, makeDesk, type DeskStore } from "../billing-operator.ts";
import { openMarket } from "../market.ts";

const address = "0x52908400098527886E0F7030069857D2E4169EE7";

async function addWallet(store: DeskStore): Promise<string> {
  const organizationId = await store.platformId();
  const { id } = await store.withApp((app) =>
    createWallet(app, context, organizationId, { label: "Till", network: "sandbox", address }),
  );
  return id;
}

describe("till key list", () => {
  const desk = makeDesk();

  it("lists an organization's keys without their secrets, including expired and revoked ones", async () => {
    const store = await desk.store();
    const organization = await store.platformId();
    const words = ["key", "list", "--organization", organization];
    const empty = await store.till(words);
    expect(empty).to.include({ code: 0, stdout: "" });
    expect(empty.stderr).to.include("No results");
    const secret = await store.key(organization);
    const [key] = ApiKeyListRecord.parse(await store.json(words)).data;
    expect(key).to.include({ name: "shop", revokedAt: null });
    await store.till(["key", "revoke", key?.id ?? "", "--yes"]);
    const table = await store.till(words);
    expect(table.stdout).to.match(/ shop +till_live_\w{4} +read,write +- +- +20/);
    expect(table.stdout).not.to.include(secret);
    expect((await store.till([...words, "-q"])).stdout).to.equal(`${key?.id ?? ""}\n`);
  });

  it("requires an existing organization", async () => {
    const store = await desk.store();
    for (const noun of ["key", "wallet", "invoice", "link"]) {
      const unknown = await store.till([noun, "list", "--organization", "org_nothing"]);
      expect(unknown.code, noun).to.equal(5);
    }
  });
});

describe("till key create", () => {
  const desk = makeDesk();

  it("grants the scope billing to the operator, and refuses unknown scopes", async () => {
    const store = await desk.store();
    const named = ["--organization", await store.platformId(), "--name", "plans"];
    const create = ["key", "create", ...named, "--scopes"];
    const made = (await store.json([...create, "read,billing"])) as { scopes: string[] };
    expect(made.scopes).to.deep.equal(["read", "billing"]);
    const refused = await store.till([...create, "read,biling"]);
    expect(refused.code).to.equal(2);
    expect(refused.stderr).to.include("--scopes");
    for (const scope of scopes) expect(refused.stderr).to.include(scope);
  });

  it("warns of a key with write, and prints the commands that replace it by one for a shop", async () => {
    const store = await desk.store();
    const organization = await store.platformId();
    const create = ["key", "create", "--organization", organization, "--name", "x", "--scopes"];
    for (const form of [[], ["--json"], ["--quiet"]]) {
      const warned = await store.till([...create, "read,write", ...form]);
      expect(warned.code, warned.stderr).to.equal(0);
      expect(warned.stdout).not.to.include("Warning");
      const [, replace = "", revoke = ""] =
        /^Warning: .* till (key create .*); then till (key revoke key_\w+)$/m.exec(warned.stderr) ??
        [];
      expect(replace).to.equal(
        `key create --organization ${organization} --name shop --scopes shop`,
      );
      // Both work as they are printed, and the new key needs no warning.
      const replaced = await store.till(replace.split(" "));
      expect(replaced.code, replaced.stderr).to.equal(0);
      expect(replaced.stderr).not.to.include("Warning");
      expect((await store.till([...revoke.split(" "), "--yes"])).code).to.equal(0);
    }
    for (const narrow of ["shop", "read", "wallets,payments:decide"]) {
      const made = await store.till([...create, narrow, "--json"]);
      expect(made.code, made.stderr).to.equal(0);
      expect(made.stderr).not.to.include("Warning");
    }
  });
});

describe("till link", () => {
  const desk = makeDesk({ TILL_NETWORKS: "sandbox" });

  it("creates, lists and disables payment links", async () => {
    const store = await desk.store();
    const named = ["--organization", await store.platformId()];
    const terms = ["--settlement-currency", "USD", "--token-symbol", "USDT", "--network"];
    const create = ["link", "create", ...named, ...terms];
    const tried = await store.till([...create, "sandbox", "--amount", "25", "--dry-run"]);
    expect(tried.code, tried.stderr).to.equal(0);
    const link = (await store.json([...create, "sandbox", "--min-amount", "5"])) as {
      id: string;
      url: string;
    };
    expect(link).to.include({ amount: null, minAmount: "5.00", status: "active" });
    expect(link.url).to.match(/\/link\/lnk_\w+$/);
    const currency = ["--settlement-currency", "USD"];
    const choice = ["link", "create", ...named, ...currency, "--payment-options"];
    const offering = await store.json([...choice, "sandbox/USDT sandbox/USDC", "--dry-run"]);
    expect((offering as { paymentOptions: unknown[] }).paymentOptions).to.have.length(2);
    const twice = await store.till([...choice, "sandbox/USDT sandbox/USDT"]);
    expect([twice.code, twice.stderr.includes("--payment-options")]).to.deep.equal([2, true]);
    const none = await store.till(["link", "create", ...named, ...currency]);
    expect([none.code, none.stderr.includes("--network")]).to.deep.equal([2, true]);
    expect((await store.till([...create, "nowhere"])).stderr).to.include("enabled networks");
    const listed = (await store.json(["link", "list", ...named])) as { data: unknown[] };
    expect(listed.data, "the dry run changed nothing").to.have.length(1);
    const disabled = await store.json(["link", "disable", link.id, ...named]);
    expect(disabled).to.include({ status: "disabled" });
    expect((await store.till(["link", "list", ...named, "--status", "active"])).stdout).to.equal(
      "",
    );
  });
});

describe("till wallet", () => {
  const desk = makeDesk({ TILL_NETWORKS: "sandbox" });

  it("lists wallets, and releases an address of any organization", async () => {
    const store = await desk.store();
    const id = await addWallet(store);
    const list = async (...words: string[]) =>
      WalletListRecord.parse(
        await store.json(["wallet", "list", "--organization", await store.platformId(), ...words]),
      ).data;
    expect(await list("--network", "tron")).to.deep.equal([]);
    const [wallet] = await list("--status", "active");
    expect(wallet).to.include({ id, address, status: "active" });

    const release = ["wallet", "release", id];
    expect((await store.till(release)).stderr).to.include("--yes");
    expect(await store.json([...release, "--dry-run"])).to.include({ status: "archived" });
    expect(await list()).to.deep.equal([wallet]);
    const released = WalletRecord.parse(await store.json([...release, "--yes"]));
    expect(await list("--status", "archived")).to.deep.equal([released]);
    const [entry] = await store.audited("wallet.released");
    expect(entry).to.include({ actor_type: "operator", target_id: id });
    // It can be registered again.
    expect(await addWallet(store)).not.to.equal(id);
  });

  it("refuses an unknown wallet and a wrong status", async () => {
    const store = await desk.store();
    expect((await store.till(["wallet", "release", "wal_nothing", "--yes"])).code).to.equal(5);
    const words = ["wallet", "list", "--organization", await store.platformId()];
    const wrong = await store.till([...words, "--status", "lost"]);
    expect(wrong.code).to.equal(2);
    expect(wrong.stderr).to.include("--status");
  });
});

describe("till invoice and till payments", () => {
  const desk = makeDesk({ TILL_NETWORKS: "sandbox" });

  it("show invoices and their payments as the API does", async () => {
    const store = await desk.store();
    const { organizationId, invoiceId } = await openMarket(store);
    const shown = InvoiceRecord.parse(await store.json(["invoice", "show", invoiceId]));
    const api = await store.withApp(async (app) => ({
      invoice: presentInvoice(await getInvoice(app, organizationId, invoiceId)),
      payments: await listPayments(app, organizationId, {}),
    }));
    expect(shown).to.deep.equal(api.invoice);
    expect(shown).to.include({ status: "paid", paidAmount: "24.00", externalId: "order 7" });
    const people = await store.till(["invoice", "show", invoiceId]);
    expect(people.stdout).to.match(/^Paid +24\.00 USD$/m);
    expect(people.stdout).to.match(/^Excess +0\.00 USDT$/m);

    const invoices = async (...words: string[]) =>
      InvoiceListRecord.parse(
        await store.json(["invoice", "list", "--organization", organizationId, ...words]),
      ).data;
    expect(await invoices()).to.deep.equal([shown]);
    expect(await invoices("--status", "open")).to.deep.equal([]);
    expect(await invoices("--external-id", "order 7")).to.have.length(1);
    expect(await invoices("--created-to", shown.createdAt)).to.deep.equal([]);
    expect(await invoices("--created-from", shown.createdAt)).to.have.length(1);

    const payments = async (...words: string[]) =>
      AdminPaymentListRecord.parse(await store.json(["payments", "list", ...words])).data;
    const all = await payments();
    expect(all).to.deep.equal(
      api.payments.data.map((view) => ({
        ...presentPayment(view),
        organizationId,
        organizationName: "Shop",
      })),
    );
    expect(await payments("--organization", organizationId, "--status", "confirmed")).to.deep.equal(
      all,
    );
    expect(await payments("--status", "reverted")).to.deep.equal([]);
    expect(await payments("--network", "tron")).to.deep.equal([]);
    const [payment] = all;
    const one = ["payments", "show", payment?.id ?? ""];
    expect(await store.json(one)).to.deep.equal(payment);
    const record = (await store.till(one)).stdout;
    expect(record)
      .to.include(payment?.transactionHash)
      .and.match(/^Rate +1 USDT per USD$/m);
    const table = await store.till(["payments", "list"]);
    expect(table.stdout).to.match(/^pay_\w+ +Shop +inv_\w+ +24\.00\d* USDT +sandbox +confirmed/m);
  });

  it("create an invoice with payment options, and show which of them were chosen at which rates", async () => {
    const store = await desk.store();
    const { organizationId } = await openMarket(store);
    const terms = ["--amount", "7.00", "--settlement-currency", "USD"];
    const words = ["invoice", "create", "--organization", organizationId, ...terms];
    const made = InvoiceRecord.parse(
      await store.json([...words, "--payment-options", "sandbox/USDT sandbox/USDC"]),
    );
    expect(made.paymentOptions.map(({ tokenSymbol }) => tokenSymbol)).to.deep.equal([
      "USDT",
      "USDC",
    ]);
    const { stdout } = await store.till(["invoice", "show", made.id]);
    expect(stdout).to.match(/^Payment options$/m);
    expect(stdout).to.match(/^sandbox +USDT +7\.00\d* +1 +0x\w{40} +yes$/m);
    expect(stdout).to.match(/^sandbox +USDC +- +- +- +no$/m);
  });

  it("refuse an unknown id and a malformed filter", async () => {
    const store = await desk.store();
    const unknown = await store.till(["invoice", "show", "inv_nothing"]);
    expect(unknown.code).to.equal(5);
    expect(unknown.stdout).to.equal("");
    expect((await store.till(["payments", "show", "pay_nothing"])).code).to.equal(5);
    expect((await store.till(["payments", "list", "--organization", "org_no"])).code).to.equal(5);
    const organization = ["--organization", await store.platformId()];
    const wrong: readonly (readonly [readonly string[], string])[] = [
      [["invoice", "list", ...organization, "--status", "lost"], "--status"],
      [["invoice", "list", ...organization, "--created-from", "today"], "--created-from"],
      [["invoice", "list", ...organization, "--customer-id", "Bo"], "--customer-id"],
      [["payments", "list", "--status", "lost"], "--status"],
      [["payments", "list", "--limit", "101"], "--limit"],
    ];
    for (const [words, flag] of wrong) {
      const { code, stderr } = await store.till(words);
      expect(code, words.join(" ")).to.equal(2);
      expect(stderr).to.include(flag);
    }
  });
});

describe("till wallet default", () => {
  const desk = makeDesk({ TILL_NETWORKS: "sandbox" });

  it("shows the default wallets, tries a change out, and makes it only with --yes", async () => {
    const store = await desk.store();
    const organization = await store.platformId();
    const first = await addWallet(store);
    const { id: second } = await store.withApp((app) =>
      createWallet(app, context, organization, {
        label: "New",
        network: "sandbox",
        address: `0x${"2".repeat(40)}`,
      }),
    );
    const show = ["wallet", "default", "--organization", organization];
    const shown = async () => DefaultWalletListRecord.parse(await store.json(show)).data;
    const before = { network: "sandbox", walletId: first, reserveWalletIds: [], canReceive: true };
    expect(await shown()).to.deep.equal([before]);
    const set = [...show, "--wallet", second, "--reserve", first];
    const tried = await store.till([...set, "--dry-run"]);
    expect(tried.code, tried.stderr).to.equal(0);
    expect(tried.stderr).to.include(`${first} → ${second}`);
    expect((await store.till(set)).code).not.to.equal(0);
    expect(await shown()).to.deep.equal([before]);
    expect((await store.till([...set, "--yes"])).code).to.equal(0);
    expect(await shown()).to.deep.equal([
      { ...before, walletId: second, reserveWalletIds: [first] },
    ]);
  });
});
