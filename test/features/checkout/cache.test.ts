// Checkouts as payers see them, and those that this process keeps.
import { expect } from "chai";
import { cancelInvoice } from "../../../src/features/invoices/invoices.ts";
import { walletOriginsOf } from "../../../src/features/checkout/checkouts.ts";
import {
  checkoutReads,
  makeCheckoutCache,
  viewCheckout,
} from "../../../src/features/checkout/cache.ts";
import {
  presentSession,
  sessionEdge,
  situationOf,
} from "../../../src/features/checkout/session.ts";
import type { StoredCheckout } from "../../../src/features/checkout/store.ts";
import { invoices } from "../../../src/features/invoices/table.ts";
import {
  replaceState,
  stateTable,
  type NetworkState,
} from "../../../src/platform/chain/state/network-state.ts";
import { openLedger, type Ledger } from "../../support/ledger.ts";
import { testNetworks } from "../../support/merchants.ts";
import { anyStore, testContext } from "../../support/store/stores.ts";
import { anInvoice, aPayment, aState, startOfTime } from "./lab.ts";

describe("checkouts that are shown", () => {
  it("show the confirmations of the payment that takes longest, on whichever network", () => {
    const networks = testNetworks("tron", "ethereum");
    const quotes = [...networks.values()].map(({ id, confirmations }) => ({
      network: id,
      tokenSymbol: "USDT",
      requiredConfirmations: confirmations,
    }));
    const required = networks.get("ethereum")?.confirmations ?? 0;
    const payable = { units: 1n, asset: { code: "USDT", decimals: 6 } };
    // TRON is in force, and its payment has all but one of its confirmations.
    const confirmations = { current: 0, required: networks.get("tron")?.confirmations ?? 0 };
    const invoice = {
      network: "tron",
      status: "confirming",
      latestBlock: 102 - confirmations.required,
      quotes,
      options: [],
      payable,
      confirmations,
      hasRoom: false,
    };
    const payment = (network: string, blockHeight: number, status = "confirming") => ({
      network,
      token: "USDT",
      blockHeight,
      status,
    });
    const view = (...payments: readonly ReturnType<typeof payment>[]) =>
      viewCheckout(
        { invoice, payments } as unknown as StoredCheckout,
        new Map(
          [...networks.keys()].map((id) => [
            id,
            { tipHeight: 100, disabledTokens: [] } as unknown as NetworkState,
          ]),
        ),
        { known: networks, enabled: networks },
      );
    const one = payment("tron", 102 - confirmations.required);
    const both = view(one, payment("ethereum", 100));
    expect(both.confirmingOn.id).to.equal("ethereum");
    expect(both.invoice.confirmations).to.deep.equal({ current: 1, required });
    const inForce = view(one, payment("ethereum", 90, "confirmed"));
    expect(inForce.confirmingOn.id).to.equal("tron");
    expect(inForce.invoice.confirmations.current).to.equal(confirmations.required - 1);

    // Blocks of Ethereum take four times as long as those of TRON.
    const onTron = (left: number) => payment("tron", 101 + left - confirmations.required);
    const onEthereum = (left: number) => payment("ethereum", 101 + left - required);
    for (const [payments, slowest] of [
      [[onTron(3), onEthereum(1)], "ethereum"],
      [[onEthereum(1), onTron(3)], "ethereum"],
      [[onTron(10), onEthereum(1)], "tron"],
      [[onEthereum(1), onTron(10)], "tron"],
      [[onEthereum(2), onTron(7), onEthereum(1)], "ethereum"],
    ] as const) {
      expect(view(...payments).confirmingOn.id).to.equal(slowest);
    }
    const counted = (...payments: readonly ReturnType<typeof payment>[]) =>
      view(...payments).invoice.confirmations;
    expect(counted(onEthereum(0)), "all").to.deep.equal({ current: required, required });
    expect(counted(payment("ethereum", 1)), "more").to.deep.equal({ current: required, required });
    expect(counted(payment("ethereum", 200)), "above the tip").to.deep.equal({
      current: 0,
      required,
    });
    // Networks and tokens of which nothing is known are left out.
    const unknown = [payment("removed", 200), { ...payment("ethereum", 200), token: "DAI" }];
    expect(view(onEthereum(1), ...unknown).invoice.confirmations.current).to.equal(required - 1);
    expect(view(...unknown).confirmingOn.id).to.equal("tron");
  });

  it("show no confirmations of a payment on a network that was never read", () => {
    const networks = testNetworks("tron", "ethereum");
    const ethereum = networks.get("ethereum");
    const invoice = anInvoice("tron", {
      quotes: [{ network: "ethereum", tokenSymbol: "USDT", requiredConfirmations: 12 } as never],
    });
    const payment = { ...aPayment({ status: "confirming" }), network: "ethereum" };
    const view = viewCheckout(
      { invoice, payments: [payment] } as unknown as StoredCheckout,
      new Map([["tron", aState("tron", startOfTime)]]),
      { known: networks, enabled: networks },
    );
    expect(view.confirmingOn).to.equal(ethereum);
    expect(view.invoice.confirmations).to.deep.equal({ current: 0, required: 12 });
  });

  it("show the time left on the other network once its payment takes longest, with as many confirmations", () => {
    const networks = testNetworks("tron", "ethereum");
    const quote = (network: string) => ({
      network,
      tokenSymbol: "USDT",
      requiredConfirmations: 12,
    });
    const invoice = anInvoice("tron", {
      status: "confirming",
      latestBlock: 100,
      confirmations: { current: 0, required: 12 },
      quotes: [quote("tron"), quote("ethereum")] as never,
    });
    const payments = (["tron", "ethereum"] as const).map((network) => ({
      ...aPayment({ status: "confirming", blockHeight: 100 }),
      network,
    }));
    const stored = {
      version: "1",
      invoice,
      payments,
      submitted: [],
      refunds: [],
      leftToMerchant: new Set(),
      merchant: { displayName: "Shop", allowedOrigins: [] },
    } as unknown as StoredCheckout;
    const shown = (tron: number, ethereum: number) => {
      const states = new Map([
        ["tron", { ...aState("tron", startOfTime), tipHeight: tron }],
        ["ethereum", { ...aState("ethereum", startOfTime), tipHeight: ethereum }],
      ]);
      const view = viewCheckout(stored, states, { known: networks, enabled: networks });
      const situation = situationOf(view, startOfTime);
      const { confirmationProgress, confirmationSeconds } = presentSession(view, situation);
      return {
        edge: sessionEdge(view, situation),
        session: { confirmationProgress, confirmationSeconds },
      };
    };
    const confirmationProgress = { current: 2, required: 12 };
    const before = shown(101, 101);
    expect(before.session).to.deep.equal({ confirmationProgress, confirmationSeconds: 120 });
    // Ethereum has caught up: ten blocks of TRON are left instead of ten of its own.
    const after = shown(101, 120);
    expect(after.session).to.deep.equal({ confirmationProgress, confirmationSeconds: 30 });
    expect(after.edge).not.to.equal(before.edge);
  });

  it("offer the options that are read, were chosen before or have room, and the one in force, cheapest first", () => {
    const networks = testNetworks("tron", "ethereum");
    const all = new Set(networks.keys());
    const merchant = {
      displayName: "Shop",
      website: null,
      contactEmail: null,
      accentColor: null,
      allowedOrigins: [],
      logoPath: null,
    };
    const ledger = { payments: [], submitted: [], refunds: [], leftToMerchant: new Set<never>() };
    const options = [
      { network: "ethereum", tokenSymbol: "USDT", isHeld: false },
      { network: "ethereum", tokenSymbol: "USDC", isHeld: true },
      { network: "tron", tokenSymbol: "USDT", isHeld: true },
      { network: "removed", tokenSymbol: "USDT", isHeld: true },
    ];
    const offered = (
      changes: Partial<ReturnType<typeof anInvoice>> = {},
      more: {
        readonly enabled?: ReadonlySet<string>;
        readonly disabledTokens?: readonly string[];
      } = {},
    ) => {
      const invoice = anInvoice("tron", { options, ...changes });
      const states = new Map(
        (["tron", "ethereum"] as const).map((id) => [
          id,
          { ...aState(id, startOfTime), disabledTokens: more.disabledTokens ?? [] },
        ]),
      );
      const view = viewCheckout({ ...ledger, version: "1", invoice, merchant }, states, {
        known: networks,
        enabled: more.enabled ?? all,
      });
      const shown = view.options.map(
        ({ network, tokenSymbol, isInForce }) =>
          `${network.id} ${tokenSymbol}${isInForce ? " in force" : ""}`,
      );
      return [view.isAccepted, ...shown];
    };
    const every = ["tron USDT in force", "ethereum USDT", "ethereum USDC"];
    expect(offered()).to.deep.equal([true, ...every]);
    expect(offered({ hasRoom: false })).to.deep.equal([
      true,
      "tron USDT in force",
      "ethereum USDC",
    ]);
    expect(offered({}, { enabled: new Set(["ethereum"]) })).to.deep.equal([false, ...every]);
    expect(offered({}, { enabled: new Set(["tron"]) })).to.deep.equal([true, "tron USDT in force"]);
    expect(offered({}, { disabledTokens: ["USDT"] })).to.deep.equal([
      false,
      "tron USDT in force",
      "ethereum USDC",
    ]);
    expect(offered({ options: [] })).to.deep.equal([true]);
  });
});

anyStore("kept checkouts", (store) => {
  let shop: Ledger;
  before(async () => {
    shop = await openLedger(await store.open(), "tron", "ethereum");
    const addresses = {
      tron: "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE",
      ethereum: `0x${"1".repeat(40)}`,
    };
    for (const [network, address] of Object.entries(addresses)) {
      await shop.scan(network);
      await shop.addWallet(network, { address });
    }
  });

  /** Keeps the store's checkouts, and notes what is read of it; `beforeStates` runs before the states are. */
  function keep(beforeStates: () => Promise<unknown> = () => Promise.resolve()) {
    const { app } = shop;
    const own = checkoutReads(app);
    const reads: string[] = [];
    const loaded: string[] = [];
    const kept = makeCheckoutCache(app, {
      versions(ids) {
        reads.push("versions");
        return own.versions(ids);
      },
      async states() {
        reads.push("states");
        await beforeStates();
        return own.states();
      },
      load(ids) {
        reads.push("load");
        loaded.push(...ids);
        return own.load(ids);
      },
    });
    return { ...kept, reads, loaded };
  }

  /** Stores another state of a network, as each scan does. */
  const rescan = (network: string) =>
    shop.db.write(testContext, async (tx) => {
      const state = await tx.lockOne(stateTable, "WHERE network = $1", [network]);
      if (state === null) throw new Error("the network was never read");
      await replaceState(tx, state, state);
    });

  it("are loaded after the state of their network, so that it is never newer than their payments", async () => {
    // A newer state beside older payments could say that a payment is lost, and ask for it again, when it has returned.
    const { id, checkoutId } = await shop.create();
    let isCanceled = false;
    const kept = keep(async () => {
      if (isCanceled) await cancelInvoice(shop.app, testContext, shop.organizationId, id);
    });
    const look = async () => {
      kept.reads.length = 0;
      return (await kept.find(checkoutId ?? ""))?.session;
    };
    const first = await look();
    expect(first?.state).to.equal("awaiting");
    expect(kept.reads).to.deep.equal(["versions", "states", "versions", "load"]);
    expect(await look()).to.equal(first);
    expect(kept.reads).to.deep.equal(["versions"]);
    await rescan("tron");
    isCanceled = true;
    expect((await look())?.state).to.equal("canceled");
    expect(kept.reads).to.deep.equal(["versions", "states", "versions", "load"]);
    expect(await kept.find("chk_unknown")).to.equal(null);
  });

  it("have a version that depends on what the session says, and on nothing else", async () => {
    const { id, checkoutId } = await shop.create();
    const [kept, other] = [keep(), keep()];
    const found = async (from = kept) => {
      const checkout = await from.find(checkoutId ?? "");
      if (checkout === null) throw new Error("the checkout is not found");
      return checkout;
    };
    const first = await found();
    await rescan("tron");
    expect(await found()).to.equal(first);
    const elsewhere = await found(other);
    expect(elsewhere.session).not.to.equal(first.session);
    expect(elsewhere.version()).to.equal(first.version());
    await cancelInvoice(shop.app, testContext, shop.organizationId, id);
    expect((await found()).version()).not.to.equal(first.version());
  });

  it("keep 300 pages, each in the variant that was last seen, until they change", async () => {
    const kept = keep();
    let rendered = 0;
    const see = async (checkoutId: string, variant = "en") => {
      const checkout = await kept.find(checkoutId);
      if (checkout === null) throw new Error("the checkout is not found");
      return kept.pageOf(checkout, variant, () => {
        rendered += 1;
        return { html: "", language: variant };
      });
    };
    const made = await Promise.all(Array.from({ length: 301 }, () => shop.create()));
    const [one = "", other = "", ...others] = made.map(({ checkoutId }) => checkoutId ?? "");
    expect(await see(one)).to.equal(await see(one));
    expect([(await see(one, "de")).language, rendered]).to.deep.equal(["de", 2]);
    expect([(await see(one, "en")).language, rendered]).to.deep.equal(["en", 3]);
    for (const id of [other, ...others]) await see(id);
    // The longest unseen has made room.
    expect(rendered).to.equal(303);
    await see(other);
    expect(rendered).to.equal(303);
    await see(one);
    expect(rendered).to.equal(304);
    await cancelInvoice(shop.app, testContext, shop.organizationId, made[0]?.id as never);
    await see(one);
    expect(rendered).to.equal(305);
  });

  it("are three thousand, and the longest unseen makes room for another", async () => {
    const { id } = await shop.create();
    const invoice = await shop.db.findOne(invoices, "WHERE id = $1", [id]);
    if (invoice === null) throw new Error("there is no invoice");
    const copies = Array.from({ length: 3_001 }, (_, place) => ({
      ...invoice,
      id: shop.ids.next("invoice", shop.now()),
      publicId: `copy ${String(place)}`,
      checkoutId: `chk_${String(place)}`,
    }));
    await shop.db.write(testContext, (tx) => tx.insertMany(invoices, copies));
    const kept = keep();
    const findAll = (from: number, to: number) =>
      Promise.all(copies.slice(from, to).map(({ checkoutId }) => kept.find(checkoutId)));
    await findAll(0, 3_000);
    expect(kept.loaded).to.have.length(3_000);
    await findAll(3_000, 3_001);
    expect([kept.last("chk_0"), kept.last("chk_1") === null]).to.deep.equal([null, false]);
    await findAll(1, 3_001);
    expect(kept.loaded).to.have.length(3_001);
    // A checkout that is seen again is the longest unseen no more.
    await findAll(1, 2);
    await findAll(0, 1);
    expect([kept.last("chk_1") === null, kept.last("chk_2")]).to.deep.equal([false, null]);
    await shop.db.write(testContext, (tx) =>
      tx.deleteMany(
        invoices,
        copies.map((copy) => ({ id: copy.id })),
      ),
    );
  });

  it("are forgotten once they do not exist any more, and read states again if one of them has changed", async () => {
    const made = [await shop.create(), await shop.create({ network: "ethereum" })];
    const ids = made.map(({ checkoutId }) => checkoutId ?? "");
    const kept = keep();
    const findBoth = () => Promise.all(ids.map((id) => kept.find(id)));
    const statesRead = () => kept.reads.filter((read) => read === "states").length;
    await findBoth();
    await findBoth();
    expect(statesRead()).to.equal(1);
    await rescan("ethereum");
    await findBoth();
    expect(statesRead()).to.equal(2);
    expect(ids.map((id) => kept.last(id)?.view.network.id)).to.deep.equal(["tron", "ethereum"]);
    for (const { id } of made) {
      await shop.db.write(testContext, (tx) =>
        tx.run("UPDATE invoices SET checkout_id = 'chk_other_' || id WHERE id = $1", [id]),
      );
    }
    expect(await findBoth()).to.deep.equal([null, null]);
    expect(ids.map((id) => kept.last(id))).to.deep.equal([null, null]);
  });
});

describe("the hosts that a payment's page may reach for wallets", () => {
  it("are those of the networks that the checkout offers and that are read, each once", () => {
    const networks = testNetworks("tron", "ethereum");
    const [tron] = networks.values();
    if (tron !== undefined) networks.set("tron-test", { ...tron, id: "tron-test" });
    const all = ["ethereum", "tron", "tron-test"];
    const option = (network: string) => ({
      network,
      networkTitle: network,
      tokenSymbol: "USDT",
      tokenStandard: "TRC-20",
      isInForce: false,
      isHeld: false,
    });
    const origins = (enabled: readonly string[], network: string, ...others: readonly string[]) =>
      walletOriginsOf(
        { known: networks, enabled: new Set(enabled) },
        { invoice: { network }, options: others.map(option) },
      );
    const trongrid = ["https://api.trongrid.io"];
    expect(origins(all, "ethereum")).to.deep.equal([]);
    expect(origins(all, "tron")).to.deep.equal(trongrid);
    expect(origins([], "tron")).to.deep.equal([]);
    expect(origins(["ethereum"], "ethereum", "ethereum", "tron")).to.deep.equal([]);
    expect(origins(all, "ethereum", "ethereum", "tron")).to.deep.equal(trongrid);
    expect(origins(all, "tron", "tron", "tron-test")).to.deep.equal(trongrid);
  });
});
