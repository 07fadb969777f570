// The payer chooses among the tokens that the merchant offers, and pays on any of the holds.
import { expect } from "chai";
import { importInvoices } from "../../../../src/features/invoices/batches/import.ts";
import { createInvoiceBatch } from "../../../../src/features/invoices/batches/batch.ts";
import { invoices } from "../../../../src/features/invoices/table.ts";
import type { Id } from "../../../../src/kernel/id.ts";
import { networkState, stateTable } from "../../../../src/platform/chain/state/network-state.ts";
import { expectStatus, type Answer, type Json, type Merchant } from "../../../support/app.ts";
import { eachStore, takeTurns, testContext } from "../../../support/store/stores.ts";
import { openOptionsCounter, type OptionsCounter } from "../../../support/counter.ts";

const offered = (...symbols: readonly string[]) =>
  symbols.map((tokenSymbol) => ({ network: "sandbox", tokenSymbol }));

eachStore("An invoice with several payment options", (store) => {
  const it = takeTurns(store);
  let counter: OptionsCounter;
  let merchant: Merchant;
  let address: string;
  before(async () => {
    counter = await openOptionsCounter(store);
  });
  after(() => counter.stop());
  beforeEach(async () => {
    await counter.setEuro("1.25");
    merchant = await counter.merchant();
    address = await counter.wallet(merchant);
  });

  const create = (input: Json): Promise<Answer> =>
    counter.post(merchant, "/invoices", {
      amount: "25.00",
      settlementCurrency: "USD",
      ...input,
    });
  async function issue(...symbols: readonly string[]): Promise<Json> {
    const made = await expectStatus(create({ paymentOptions: offered(...symbols) }), 201);
    return made.body;
  }
  const read = ({ id }: Json) => counter.get(merchant, `/invoices/${String(id)}`);
  const choose = ({ checkoutId }: Json, tokenSymbol: string, network = "sandbox") =>
    counter.app.request("POST", `/v1/checkout/${String(checkoutId)}/option`, {
      body: { network, tokenSymbol },
    });
  async function chosen(invoice: Json, tokenSymbol: string): Promise<Json> {
    return (await expectStatus(choose(invoice, tokenSymbol), 200)).body["invoice"] as Json;
  }
  /** Pays an amount, as decimal text, in a token, and mines until it is confirmed. */
  async function pay(amount: unknown, token: string, decimals: number, blocks = 3): Promise<void> {
    const [whole = "", fraction = ""] = String(amount).split(".");
    await counter.pay(address, BigInt(whole + fraction.padEnd(decimals, "0")), { token });
    await counter.mine(blocks);
  }
  const paymentsOf = async ({ id }: Json) =>
    (await counter.list(merchant, `/payments?invoiceId=${String(id)}`)).toReversed();

  it("is issued in the first, and takes no hold for the others", async () => {
    const invoice = await issue("USDC", "EURT", "WBTC");
    expect(invoice).to.include({
      tokenSymbol: "USDC",
      network: "sandbox",
      payableAmount: "25.00",
      status: "open",
    });
    const options = invoice["paymentOptions"] as Json[];
    expect(options.map((option) => [option["tokenSymbol"], option["isInForce"]])).to.deep.equal([
      ...[
        ["USDC", true],
        ["EURT", false],
        ["WBTC", false],
      ],
    ]);
    expect(options[1]).to.include({ payableAmount: null, exchangeRate: null });
    const held = await counter.app.app.db.all("SELECT token FROM holds WHERE invoice_id = $1", [
      String(invoice["id"]),
    ]);
    expect(held).to.deep.equal([{ token: "USDC" }]);
  });

  it("is credited once, at the rate that was locked for the hold that was paid", async () => {
    const invoice = await issue("USDT", "EURT", "WBTC", "GOLD");
    const euros = await chosen(invoice, "EURT");
    expect(euros).to.include({ tokenSymbol: "EURT", payableAmount: "20.00" });
    await counter.setEuro("2");
    expect(await chosen(invoice, "WBTC")).to.include({ payableAmount: "0.00025" });
    expect(await chosen(invoice, "GOLD")).to.include({
      payableAmount: "8.333334",
      remainingAmount: "8.333334",
    });
    // The price of a euro has changed, and the rate of the option has not.
    await pay("20", "EURT", 6);
    const paid = await read(invoice);
    expect(paid).to.include({
      status: "paid",
      exception: "none",
      paidAmount: "25.00",
      paidTokenAmount: "20.00",
      tokenSymbol: "EURT",
      remainingAmount: "0.00",
      exchangeRate: "0.8",
    });
    const payments = await paymentsOf(invoice);
    expect(payments).to.have.length(1);
    expect(payments[0]).to.include({
      tokenSymbol: "EURT",
      amount: "20.00",
      settlementAmount: "25.00",
      exchangeRate: "0.8",
      status: "confirmed",
    });
    expect(await counter.list(merchant, "/transfers?status=unmatched")).to.deep.equal([]);
  });

  it("sums halves in two tokens to the unit, and asks for the rest in the option in force", async () => {
    const invoice = await issue("USDT", "GOLD", "CENT");
    await chosen(invoice, "GOLD");
    await pay("4.166667", "GOLD", 18);
    const part = await read(invoice);
    // Not an amount that any hold identifies: it waits for the merchant.
    expect(part).to.include({ status: "open", tokenSymbol: "GOLD" });
    const [transfer] = await counter.list(merchant, "/transfers?status=unmatched");
    const allocations = [{ invoiceId: invoice["id"], amount: "4.166667" }];
    const path = `/transfers/${String(transfer?.["id"])}/allocate`;
    await expectStatus(counter.post(merchant, path, { allocations }), 200);
    await counter.mine(3);
    expect(await read(invoice)).to.include({ status: "partially_paid", paidAmount: "12.50" });
    const rest = await chosen(invoice, "USDT");
    expect(rest).to.include({ tokenSymbol: "USDT", payableAmount: "25.00" });
    expect(rest["receivedAmount"]).to.equal("12.50");
    expect(rest["remainingAmount"]).to.equal("12.50");
    await pay(rest["remainingAmount"], "USDT", 6);
    expect(await read(invoice)).to.include({
      status: "paid",
      exception: "none",
      paidAmount: "25.00",
      tokenSymbol: "USDT",
    });
    const payments = await paymentsOf(invoice);
    expect(payments.map((payment) => payment["settlementAmount"])).to.deep.equal([
      "12.50",
      "12.50",
    ]);
    expect(payments.map((payment) => payment["tokenSymbol"])).to.deep.equal(["GOLD", "USDT"]);
  });

  it("keeps the hold and the rate of an option that is chosen again", async () => {
    const invoice = await issue("USDT", "EURT");
    const first = await chosen(invoice, "EURT");
    await chosen(invoice, "USDT");
    await counter.setEuro("1.5");
    expect(await chosen(invoice, "EURT")).to.deep.equal(first);
    const held = await counter.app.app.db.all("SELECT id FROM holds WHERE invoice_id = $1", [
      String(invoice["id"]),
    ]);
    expect(held).to.have.length(2);
    const announced = async () => {
      const rows = await counter.app.app.db.all<{ payload: string }>(
        "SELECT payload FROM events WHERE type = 'invoice.option_chosen' ORDER BY id",
      );
      const bodies = rows.map(({ payload }) => JSON.parse(payload) as Json);
      return bodies.filter(({ id }) => id === invoice["id"]).map((body) => body["tokenSymbol"]);
    };
    // Choosing what is in force changes nothing, not even the version.
    const before = await read(invoice);
    await chosen(invoice, "EURT");
    expect(await read(invoice)).to.deep.equal(before);
    // The relay has not reached any of them, so one event has the last of the three choices.
    expect(await announced()).to.deep.equal(["EURT"]);
  });

  it("has at most five holds, and then keeps offering those", async () => {
    const symbols = ["USDT", "USDC", "EURT", "WBTC", "GOLD", "CENT"];
    const invoice = await issue(...symbols);
    for (const symbol of symbols.slice(1, 5)) await chosen(invoice, symbol);
    const refused = await choose(invoice, "CENT");
    expect(refused.status).to.equal(409);
    expect(refused.body).to.include({ code: "option_limit_reached" });
    const session = await counter.app.request(
      "GET",
      `/v1/checkout/${String(invoice["checkoutId"])}`,
    );
    const options = session.body["options"] as Json[];
    expect(options.map((option) => option["tokenSymbol"])).to.have.members(symbols.slice(0, 5));
    await chosen(invoice, "USDC");
  });

  it.onBoth(
    "never exceeds five holds of eight options, or has two in force, when 64 choose at once",
    async () => {
      const symbols = ["USDT", "USDC", "EURT", "WBTC", "GOLD", "CENT", "DAI", "GUSD"];
      const invoice = await issue(...symbols);
      const chosenBy = (place: number) => symbols[place % symbols.length] ?? "";
      const answers = await Promise.all(
        Array.from({ length: 64 }, (_, place) => choose(invoice, chosenBy(place))),
      );
      const held = await counter.app.app.db.all<{ token: string }>(
        "SELECT token FROM holds WHERE invoice_id = $1",
        [String(invoice["id"])],
      );
      expect(held).to.have.length(5);
      const tokens = new Set(held.map(({ token }) => token));
      expect(tokens.size).to.equal(5);
      // Each caller either has one of the five, or gets a problem that asks to choose one of them.
      for (const [place, { status, body }] of answers.entries()) {
        const isHeld = tokens.has(chosenBy(place));
        expect([status, body["code"]]).to.deep.equal(
          isHeld ? [200, undefined] : [409, "option_limit_reached"],
        );
        if (!isHeld)
          expect(body["detail"]).to.contain("Choose one of those that were chosen before");
      }
      const options = (await read(invoice))["paymentOptions"] as Json[];
      expect(options.filter((option) => option["isInForce"] === true)).to.have.length(1);
      expect(options.filter((option) => option["payableAmount"] !== null)).to.have.length(5);
    },
  );

  it("refuses what is not offered, has no rate or is over, and changes nothing", async () => {
    const invoice = await issue("USDT", "EURT");
    const before = await read(invoice);
    const refusals: [Promise<Answer>, number, string][] = [
      [choose(invoice, "USDC"), 422, "option_not_offered"],
      [choose(invoice, "EURT", "tron"), 422, "option_not_offered"],
      [choose({ checkoutId: `chk_${"0".repeat(26)}` }, "EURT"), 404, "not_found"],
    ];
    for (const [answer, status, code] of refusals) {
      const refused = await answer;
      expect([refused.status, refused.body["code"]]).to.deep.equal([status, code]);
    }
    counter.app.clock.advance(1_000_000);
    const stale = await choose(invoice, "EURT");
    expect([stale.status, stale.body["code"]]).to.deep.equal([503, "rate_unavailable"]);
    expect(await read(invoice)).to.deep.equal(before);
    await counter.setEuro("1.25");
    await counter.mine(1);
    await pay("25", "USDT", 6);
    const paid = await choose(invoice, "EURT");
    expect([paid.status, paid.body["code"]]).to.deep.equal([409, "invoice_not_open"]);
    const elsewhere = await choose(invoice, "USDT", "tron");
    expect([elsewhere.status, elsewhere.body["code"]]).to.deep.equal([409, "invoice_not_open"]);
    expect((await choose(invoice, "USDT")).status).to.equal(200);
    const canceled = await issue("USDT", "EURT");
    await expectStatus(counter.post(merchant, `/invoices/${String(canceled["id"])}/cancel`), 200);
    const late = await choose(canceled, "EURT");
    expect([late.status, late.body["code"]]).to.deep.equal([409, "invoice_not_open"]);
  });

  it("refuses an option that has become unavailable, and changes nothing", async () => {
    const { db } = counter.app.app;
    async function refuses(
      invoice: Json,
      symbol: string,
      problem: readonly [status: number, code: string],
      network?: string,
    ): Promise<void> {
      const before = await read(invoice);
      const { status, body } = await choose(invoice, symbol, network);
      expect([status, body["code"]]).to.deep.equal(problem);
      // The payer is not told what the merchant has to do.
      expect(body["detail"]).to.match(/^This way to pay is not available now\./);
      expect(await read(invoice)).to.deep.equal(before);
    }
    const cheap = { amount: "0.01", settlementCurrency: "USD" };
    await counter.setEuro("0.8");
    const small = await expectStatus(
      create({ ...cheap, paymentOptions: offered("USDT", "EURT") }),
      201,
    );
    await counter.setEuro("1.25");
    await refuses(small.body, "EURT", [422, "amount_too_small"]);

    // Every amount near the price is held.
    const ten = { amount: "10.00", tokenSymbol: "CENT", network: "sandbox" };
    while ((await create(ten)).status === 201);
    const full = await expectStatus(
      create({
        ...ten,
        tokenSymbol: undefined,
        network: undefined,
        paymentOptions: offered("USDT", "CENT"),
      }),
      201,
    );
    await refuses(full.body, "CENT", [409, "wallet_capacity_exhausted"]);

    const invoice = await issue("USDT", "EURT", "WBTC");
    const id = String(invoice["id"]) as Id<"invoice">;
    const setDisabled = (disabledTokens: readonly string[]) =>
      db.write(testContext, (tx) =>
        tx.update(stateTable, { disabledTokens }, "WHERE network = 'sandbox'"),
      );
    await setDisabled(["EURT"]);
    await refuses(invoice, "EURT", [422, "token_not_enabled"]);
    // The states of networks are kept for a second.
    counter.app.clock.advance(2_000);
    const several = { paymentOptions: offered("USDT", "EURT") };
    const off = await expectStatus(create(several), 422);
    expect(off.body["code"]).to.equal("token_not_enabled");
    expect(off.body["detail"]).to.include("EURT on ").and.include("is disabled");
    const batch = { ...several, externalId: "off", amount: "5.00", settlementCurrency: "USD" };
    const batched = await counter.post(merchant, "/invoices/batch", { invoices: [batch] });
    expect(JSON.stringify(batched.body)).to.include("EURT on ").and.include("token_not_enabled");
    await expectStatus(create({ ...several, draft: true }), 201);
    await setDisabled([]);
    counter.app.clock.advance(2_000);

    const state = await networkState(db, "sandbox");
    if (state === null) throw new Error("the sandbox was not read");
    await db.write(testContext, (tx) => tx.run("DELETE FROM network_states"));
    counter.app.clock.advance(60_000);
    await refuses(invoice, "EURT", [503, "network_not_ready"]);
    await db.write(testContext, (tx) => tx.insert(stateTable, state));

    const wallets = await counter.list(merchant, "/wallets");
    const [cash, euros] = offered("USDT", "EURT");
    const named = { paymentOptions: [cash, { ...euros, walletId: wallets[0]?.["id"] }] };
    const withWallet = (await expectStatus(create(named), 201)).body;
    for (const wallet of wallets) {
      await expectStatus(counter.post(merchant, `/wallets/${String(wallet["id"])}/archive`), 200);
    }
    await refuses(invoice, "EURT", [409, "no_default_wallet"]);
    await refuses(withWallet, "EURT", [422, "no_wallet"]);

    // The operator has taken the network out of the configuration since.
    await db.write(testContext, async (tx) => {
      const row = await tx.lockOne(invoices, "WHERE id = $1", [id]);
      const paymentOptions = (row?.paymentOptions ?? []).map((option) =>
        option.tokenSymbol === "EURT" ? { ...option, network: "tron" } : option,
      );
      await tx.update(invoices, { paymentOptions }, "WHERE id = $1", [id]);
    });
    await refuses(invoice, "EURT", [422, "network_not_enabled"], "tron");
  });

  it("changes the option although the merchant has since allowed other origins only", async () => {
    const redirectUrl = "https://shop.example/thanks";
    const made = await expectStatus(
      create({ paymentOptions: offered("USDT", "USDC"), redirectUrl }),
      201,
    );
    const allowed = { key: merchant.key, body: { allowedOrigins: ["https://other.example"] } };
    const path = `/v1/organizations/${merchant.organizationId}`;
    await expectStatus(counter.app.request("PATCH", path, allowed), 200);
    expect(await chosen(made.body, "USDC")).to.include({ tokenSymbol: "USDC" });
  });

  it("can be changed while nobody reads the option in force, and asks for nothing until then", async () => {
    const invoice = await issue("USDT", "USDC");
    const setDisabled = (disabledTokens: readonly string[]) =>
      counter.app.app.db.write(testContext, (tx) =>
        tx.run(
          "UPDATE network_states SET disabled_tokens = $1, version = version + 1 WHERE network = 'sandbox'",
          [JSON.stringify(disabledTokens)],
        ),
      );
    await setDisabled(["USDT"]);
    const path = `/v1/checkout/${String(invoice["checkoutId"])}`;
    const session = (await expectStatus(counter.app.request("GET", path), 200)).body;
    expect(session).to.include({ state: "cannot_check", nextAction: "contact_merchant" });
    expect((session["options"] as Json[]).map((option) => option["tokenSymbol"])).to.deep.equal([
      "USDT",
      "USDC",
    ]);
    const page = await counter.app.request("GET", `/pay/${String(invoice["checkoutId"])}`);
    expect(page.text).to.contain('value="sandbox/USDC"').and.not.to.contain('id="amount"');
    const changed = (await expectStatus(choose(invoice, "USDC"), 200)).body;
    await setDisabled([]);
    expect(changed).to.include({ nextAction: "pay" });
  });

  it.onBoth(
    "has the dust of the token in force, also when the payer goes back to another",
    async () => {
      const invoice = await issue("USDT", "WBTC", "GOLD");
      const dusts = new Map(
        counter.app.app.config.networks
          .find(({ id }) => id === "sandbox")
          ?.tokens.map(({ symbol, dust }) => [symbol, dust]),
      );
      expect(dusts.get("WBTC")).not.to.equal(dusts.get("USDT"));
      for (const symbol of ["WBTC", "GOLD", "USDT", "WBTC"]) {
        await chosen(invoice, symbol);
        const row = await counter.app.app.db.findOne(invoices, "WHERE id = $1", [
          String(invoice["id"]),
        ]);
        expect(row).to.include({ tokenSymbol: symbol, dustAmount: dusts.get(symbol) });
      }
    },
  );

  it.onBoth("is found by each option that it held, and by no mixture of them", async () => {
    const first = (await counter.list(merchant, "/wallets"))[0];
    await counter.wallet(merchant);
    const second = (await counter.list(merchant, "/wallets"))[0];
    const issueOne = async () =>
      (await expectStatus(create({ ...offered("USDT")[0], walletId: first?.["id"] }), 201)).body;
    const plain = await issueOne();
    const paymentOptions = offered("USDT", "USDC", "EURT").map((option, place) => ({
      ...option,
      walletId: place === 1 ? second?.["id"] : first?.["id"],
    }));
    const moved = (await expectStatus(create({ paymentOptions, amount: "40.00" }), 201)).body;
    counter.app.clock.advance(10);
    const last = await issueOne();
    await chosen(moved, "USDC");
    const names = new Map([plain, moved, last].map((each, place) => [each["id"], place + 1]));
    async function find(query: Record<string, unknown>): Promise<unknown[]> {
      const found: unknown[] = [];
      let path: string | null =
        `/invoices?${new URLSearchParams(query as Record<string, string>).toString()}`;
      while (path !== null) {
        const page: Json = await counter.get(merchant, path);
        found.push(...(page["data"] as Json[]).map(({ id }) => names.get(id)));
        const next = page["nextCursor"] as string | null;
        path = next === null ? null : `${path.split("&cursor")[0] ?? ""}&cursor=${next}`;
      }
      return found;
    }
    const tokens = { network: "sandbox", tokenSymbol: "USDT" };
    const priced = { settlementCurrency: "USD", sort: "-amount" };
    const cases: readonly (readonly [Record<string, unknown>, readonly number[]])[] = [
      [{ tokenSymbol: "USDT" }, [3, 2, 1]],
      [{ ...tokens, limit: 1 }, [3, 2, 1]],
      [{ ...tokens, sort: "createdAt", limit: 2 }, [1, 2, 3]],
      [{ ...tokens, ...priced, limit: 1 }, [2, 3, 1]],
      [{ tokenSymbol: "USDC" }, [2]],
      [{ tokenSymbol: "EURT" }, []],
      [{ network: "tron", tokenSymbol: "USDC" }, []],
      [{ tokenSymbol: "USDT", status: "paid" }, []],
      [{ walletId: second?.["id"] }, [2]],
      [{ walletId: first?.["id"] }, [3, 2, 1]],
      [{ walletId: first?.["id"], tokenSymbol: "USDC" }, []],
      [{ walletAddress: first?.["address"], tokenSymbol: "USDT" }, [3, 2, 1]],
      [{ walletAddress: first?.["address"], search: String(moved["publicId"]) }, [2]],
      [{ walletAddress: second?.["address"], tokenSymbol: "USDT" }, []],
      [{ tokenSymbol: "USDT", externalId: "of-none" }, []],
    ];
    for (const [query, expected] of cases) {
      expect(await find(query), JSON.stringify(query)).to.deep.equal(expected);
    }
    const usdc = (await read(moved))["payableAmount"];
    await counter.pay(
      String(second?.["address"]).slice(2).toLowerCase(),
      BigInt(String(usdc).replace(".", "")) * 10_000n,
      { token: "USDC" },
    );
    await counter.mine(3);
    expect(await find({ tokenSymbol: "USDT", sort: "paidAt" })).to.deep.equal([2]);
  });

  it("is created from a file, once, and paid on a hold that was chosen since", async () => {
    const call = {
      attempt: <T>(write: Promise<T>) => write,
      interruptible: <T>(work: (asked: () => boolean) => Promise<T>) => work(() => false),
      isSet: () => false,
      progress: () => undefined,
    };
    const organizationId = merchant.organizationId as Id<"organization">;
    const file = (...lines: readonly string[]) =>
      importInvoices(
        (items) => createInvoiceBatch(counter.app.app, testContext, organizationId, items),
        call,
        ["externalId,amount,settlementCurrency,paymentOptions", ...lines].join("\n"),
      );
    const lines = [
      "a,25.00,USD,sandbox/USDT sandbox/EURT",
      "b,25.00,USD,sandbox/USDT sandbox/EURT",
    ];
    expect((await file(...lines)).report).to.include({ created: 2, refused: 0 });
    const [invoice = {}] = await counter.list(merchant, "/invoices?externalId=b");
    const euros = await chosen(invoice, "EURT");
    await chosen(invoice, "USDT");
    // A repeated import finds both, although one has holds in two tokens now.
    expect((await file(...lines)).report).to.include({ created: 0, existing: 2, refused: 0 });
    await pay(euros["payableAmount"], "EURT", 6);
    const paid = await read(invoice);
    expect(paid).to.include({ status: "paid", tokenSymbol: "EURT", paidAmount: "25.00" });
    const [other = {}] = await counter.list(merchant, "/invoices?externalId=a");
    expect(other).to.include({ status: "open", tokenSymbol: "USDT" });

    for (const [options, column] of [
      ["sandbox/USDT sandbox/USDT", "paymentOptions.1"],
      ["sandbox/USDT sandbox", "paymentOptions.1.tokenSymbol"],
    ] as const) {
      const { report } = await file(`c,25.00,USD,${options}`);
      expect(report.refusals.map((refused) => refused.column)).to.deep.equal([column]);
    }
    expect(await counter.list(merchant, "/invoices?externalId=c")).to.deep.equal([]);
  });

  it("is refused with options that contradict each other, are too many or the same twice", async () => {
    const pair = { network: "sandbox", tokenSymbol: "USDT" };
    const wrong: [Json, string][] = [
      [{ paymentOptions: offered("USDT"), ...pair }, "/paymentOptions"],
      [{ paymentOptions: offered("USDT", "USDC", "USDT") }, "/paymentOptions/2"],
      [{ paymentOptions: [] }, "/paymentOptions"],
      [{ paymentOptions: offered("1", "2", "3", "4", "5", "6", "7", "8", "9") }, "/paymentOptions"],
      [{ network: "sandbox" }, "/tokenSymbol"],
      [{ tokenSymbol: "USDT" }, "/network"],
      [{}, "/network"],
    ];
    for (const [body, pointer] of wrong) {
      const refused = await create(body);
      expect(refused.status, JSON.stringify(body)).to.equal(400);
      const [error] = refused.body["errors"] as Json[];
      expect(error?.["pointer"]).to.equal(pointer);
    }
    const unknown = await create({ paymentOptions: offered("USDT", "XYZ") });
    expect([unknown.status, unknown.body["code"]]).to.deep.equal([422, "token_not_enabled"]);
    const rateless = await create({ paymentOptions: offered("USDT", "NONE") });
    expect([rateless.status, rateless.body["code"]]).to.deep.equal([422, "unsupported_currency"]);
  });

  it("takes the organization's options if the request names none", async () => {
    const set = { key: merchant.key, body: { paymentOptions: offered("EURT", "USDT") } };
    const path = `/v1/organizations/${merchant.organizationId}/payment-policy`;
    await expectStatus(counter.app.request("PATCH", path, set), 200);
    const made = await expectStatus(create({}), 201);
    expect(made.body).to.include({ tokenSymbol: "EURT", payableAmount: "20.00" });
    const one = await expectStatus(create({ network: "sandbox", tokenSymbol: "USDT" }), 201);
    expect(one.body["paymentOptions"]).to.have.length(1);
    const priced = { amount: "3.00", settlementCurrency: "USD" };
    const batch = await counter.post(merchant, "/invoices/batch", {
      invoices: [
        { ...priced, externalId: "a", network: "sandbox", tokenSymbol: "USDT" },
        { ...priced, externalId: "b" },
        { externalId: "c" },
      ],
    });
    const results = batch.body["results"] as { invoice: Json | null }[];
    const options = results.map(({ invoice }) => invoice?.["paymentOptions"] as Json[] | undefined);
    expect(options.map((each) => each?.length)).to.deep.equal([1, 2, undefined]);
    const unknown = { key: merchant.key, body: { paymentOptions: offered("XYZ") } };
    const refused = await counter.app.request("PATCH", path, unknown);
    expect(refused.status).to.equal(400);
  });

  it("can be a draft whose options change until it is issued", async () => {
    const draft = await expectStatus(
      create({ draft: true, paymentOptions: offered("USDT", "EURT") }),
      201,
    );
    const path = `/v1/organizations/${merchant.organizationId}/invoices/${String(draft.body["id"])}`;
    const patch = (body: Json) => counter.app.request("PATCH", path, { key: merchant.key, body });
    const single = await expectStatus(patch({ tokenSymbol: "USDC" }), 200);
    expect(single.body["paymentOptions"]).to.have.length(1);
    await expectStatus(patch({ paymentOptions: offered("GOLD", "EURT") }), 200);
    const issued = await expectStatus(patch({ status: "open" }), 200);
    expect(issued.body).to.include({ status: "open", tokenSymbol: "GOLD" });
    expect(issued.body["paymentOptions"]).to.have.length(2);
    await chosen(issued.body, "EURT");
  });

  it("asks for a rest that payers can enter, whatever the precision of a part", async () => {
    const priced = { amount: "25.50", settlementCurrency: "USD" };
    const paymentOptions = offered("DAI", "USDT", "EURT", "GOLD");
    const made = counter.post(merchant, "/invoices", { ...priced, paymentOptions });
    const invoice = (await expectStatus(made, 201)).body;
    await pay("3.123456789012345678", "DAI", 18);
    const [transfer] = await counter.list(merchant, "/transfers?status=unmatched");
    const allocations = [{ invoiceId: invoice["id"], amount: "3.123456789012345678" }];
    const path = `/transfers/${String(transfer?.["id"])}/allocate`;
    await expectStatus(counter.post(merchant, path, { allocations }), 200);
    await counter.mine(3);
    const decimalsOf = ({ remainingAmount }: Json) =>
      String(remainingAmount).split(".")[1]?.length ?? 0;
    expect(await read(invoice)).to.include({ remainingAmount: "22.376544" });
    for (const [symbol, most] of [
      ["USDT", 6],
      ["EURT", 6],
      ["GOLD", 9],
      ["DAI", 6],
    ] as const) {
      expect(decimalsOf(await chosen(invoice, symbol)), symbol).to.be.at.most(most);
    }
    await pay("22.376544", "DAI", 18);
    expect(await read(invoice)).to.include({
      status: "paid",
      exception: "none",
      paidAmount: "25.50",
    });
  });

  it("keeps the sums of an option to its unit, even if the one in force cannot show them", async () => {
    const invoice = await issue("USDT", "DAI");
    await chosen(invoice, "DAI");
    const allocate = async (amount: string) => {
      const [found] = await counter.list(merchant, "/transfers?status=unmatched");
      const allocations = [{ invoiceId: invoice["id"], amount }];
      const path = `/transfers/${String(found?.["id"])}/allocate`;
      await expectStatus(counter.post(merchant, path, { allocations }), 200);
    };
    const sums = async () => {
      const id = String(invoice["id"]);
      const row = await counter.app.app.db.findOne(invoices, "WHERE id = $1", [id]);
      const quote = row?.paymentOptions?.find(({ tokenSymbol }) => tokenSymbol === "DAI")?.quote;
      return [quote?.seen, quote?.confirmed];
    };
    const dust = "0.000000000000000001";
    await pay("1", "DAI", 18, 1);
    await allocate(dust);
    await chosen(invoice, "USDT");
    await pay("10", "USDT", 6, 1);
    await allocate("10.00");
    const part = { status: "partially_paid", tokenSymbol: "USDT", paidTokenAmount: "10.00" };
    expect(await read(invoice)).to.include(part);
    expect(await sums()).to.deep.equal(["1", "0"]);
    await counter.mine();
    expect(await sums()).to.deep.equal(["1", "1"]);
    const payment = (await paymentsOf(invoice)).find(({ amount }) => amount === dust);
    const reverse = `/payments/${String(payment?.["id"])}/reverse`;
    await expectStatus(counter.post(merchant, reverse), 200);
    expect(await sums()).to.deep.equal(["0", "0"]);
    expect(await read(invoice)).to.include(part);
  });

  it("goes back to what was asked for when a reorganization removes a part", async () => {
    const invoice = await issue("USDT", "EURT");
    await chosen(invoice, "EURT");
    await pay("20", "EURT", 6, 1);
    expect(await read(invoice)).to.include({ status: "confirming", paidAmount: "25.00" });
    await counter.reorganize(1, { drop: true });
    const reverted = await read(invoice);
    expect(reverted).to.include({
      status: "open",
      exception: "reverted",
      paidAmount: "0.00",
      tokenSymbol: "EURT",
      remainingAmount: "20.00",
    });
    // The payment may still return: a payer who chose another amount now could pay twice.
    const other = await choose(invoice, "USDT");
    expect([other.status, other.body["code"]]).to.deep.equal([409, "invoice_not_open"]);
    await chosen(invoice, "EURT");
    await pay("25", "USDT", 6);
    expect(await read(invoice)).to.include({ status: "paid", tokenSymbol: "USDT" });
  });
});
