import { expect } from "chai";
import { keepCheckouts, viewCheckout } from "../../../src/features/checkout/kept.ts";
import type { StoredCheckout } from "../../../src/features/checkout/ports.ts";
import {
  makeCheckoutService,
  type CheckoutDependencies,
} from "../../../src/features/checkout/service.ts";
import type { NetworkState } from "../../../src/platform/chain/state/network-state.ts";
import { testNetworks } from "../../support/merchants.ts";
import { stillClock } from "../../support/app.ts";
import { anInvoice, aPayment, aState, startOfTime } from "./lab.ts";

describe("kept checkouts", () => {
  it("are loaded after the state of their network, so that it is never newer than their payments", async () => {
    // A newer state beside older payments could say that a payment is lost, and ask for it again, when it has returned.
    const calls: string[] = [];
    const kept = keepCheckouts({
      sources: {
        versions() {
          calls.push("versions");
          const version = { version: "1", network: "tron", networkVersion: 7 };
          return Promise.resolve(new Map([["chk_a", version]]));
        },
        networkStates() {
          calls.push("states");
          return Promise.resolve(new Map([["tron", { version: 7 } as never]]));
        },
        load() {
          calls.push("load");
          return Promise.resolve(new Map());
        },
      },
      networks: new Map(),
      enabled: new Set(),
      clock: stillClock(0),
    });
    expect(await kept.find("chk_a")).to.equal(null);
    expect(calls).to.deep.equal(["versions", "states", "versions", "load"]);
    await kept.find("chk_a");
    expect(calls.slice(4)).to.deep.equal(["versions", "load"]);
  });

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
        { networks, enabled: new Set(networks.keys()) },
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
      { networks, enabled: new Set(networks.keys()) },
    );
    expect(view.confirmingOn).to.equal(ethereum);
    expect(view.invoice.confirmations).to.deep.equal({ current: 0, required: 12 });
  });
});

describe("the checkouts that are kept", () => {
  const networks = testNetworks("tron", "ethereum");
  const enabled = new Set(networks.keys());
  const merchant = {
    displayName: "Shop",
    website: null,
    contactEmail: null,
    accentColor: null,
    allowedOrigins: [],
    logoPath: null,
  };
  const ledger = { payments: [], submitted: [], refunds: [], leftToMerchant: new Set<never>() };

  it("are three thousand, and the longest unseen makes room for another", async () => {
    const loaded: string[] = [];
    const stored = { ...ledger, version: "1", invoice: anInvoice("tron"), merchant };
    const each = <T>(ids: readonly string[], value: T) =>
      Promise.resolve(new Map(ids.map((id) => [id, value])));
    const kept = keepCheckouts({
      sources: {
        versions: (ids) => each(ids, { version: "1", network: "tron", networkVersion: 7 }),
        networkStates: () =>
          Promise.resolve(
            new Map([["tron", { ...aState("tron", startOfTime), cursorHash: "", version: 7 }]]),
          ),
        load(ids) {
          loaded.push(...ids);
          return each(ids, { ...stored });
        },
      },
      networks,
      enabled,
      clock: stillClock(startOfTime),
    });
    const ids = Array.from({ length: 3_001 }, (_, place) => `chk_${String(place)}`);
    const find = (from: number, to: number) =>
      Promise.all(ids.slice(from, to).map((id) => kept.find(id)));
    await find(0, 3_000);
    await find(0, 3_000);
    expect(loaded).to.have.length(3_000);
    await find(3_000, 3_001);
    expect([kept.last("chk_0"), kept.last("chk_1") === null]).to.deep.equal([null, false]);
    await find(1, 3_001);
    expect(loaded).to.have.length(3_001);
    // A checkout that is seen again is the longest unseen no more.
    await find(1, 2);
    await find(0, 1);
    expect([kept.last("chk_1") === null, kept.last("chk_2")]).to.deep.equal([false, null]);
  }).timeout(60_000);

  it("are forgotten once they do not exist any more, and read states again if one of them has changed", async () => {
    const ids = ["chk_tron", "chk_ethereum"] as const;
    const versionOf = { tron: 7, ethereum: 7 };
    let isThere = true;
    let readings = 0;
    const each = <T>(asked: readonly string[], of: (network: "tron" | "ethereum") => T) =>
      Promise.resolve(
        new Map(
          asked
            .filter(() => isThere)
            .map((id) => [id, of(id === "chk_tron" ? "tron" : "ethereum")]),
        ),
      );
    const kept = keepCheckouts({
      sources: {
        versions: (asked) =>
          each(asked, (network) => ({
            version: "1",
            network,
            networkVersion: versionOf[network],
          })),
        networkStates() {
          readings += 1;
          const rows = (["tron", "ethereum"] as const).map(
            (network) =>
              [
                network,
                {
                  ...aState(network, startOfTime),
                  cursorHash: "",
                  version: versionOf[network],
                },
              ] as const,
          );
          return Promise.resolve(new Map(rows));
        },
        load: (asked) =>
          each(asked, (network) => ({
            ...ledger,
            version: "1",
            invoice: anInvoice(network),
            merchant,
          })),
      },
      networks,
      enabled,
      clock: stillClock(startOfTime),
    });
    const findBoth = () => Promise.all(ids.map((id) => kept.find(id)));
    await findBoth();
    await findBoth();
    expect(readings).to.equal(1);
    versionOf.ethereum += 1;
    await findBoth();
    expect(readings).to.equal(2);
    expect(ids.map((id) => kept.last(id)?.view.network.id)).to.deep.equal(["tron", "ethereum"]);
    isThere = false;
    expect(await findBoth()).to.deep.equal([null, null]);
    expect(ids.map((id) => kept.last(id))).to.deep.equal([null, null]);
  });

  it("offer the options that are read, were chosen before or have room, and the one in force, cheapest first", () => {
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
        networks,
        enabled: more.enabled ?? enabled,
      });
      const shown = view.options.map(
        ({ network, tokenSymbol, isInForce }) =>
          `${network.id} ${tokenSymbol}${isInForce ? " in force" : ""}`,
      );
      return [view.isAccepted, ...shown];
    };
    const all = ["tron USDT in force", "ethereum USDT", "ethereum USDC"];
    expect(offered()).to.deep.equal([true, ...all]);
    expect(offered({ hasRoom: false })).to.deep.equal([
      true,
      "tron USDT in force",
      "ethereum USDC",
    ]);
    expect(offered({}, { enabled: new Set(["ethereum"]) })).to.deep.equal([false, ...all]);
    expect(offered({}, { enabled: new Set(["tron"]) })).to.deep.equal([true, "tron USDT in force"]);
    expect(offered({}, { disabledTokens: ["USDT"] })).to.deep.equal([
      false,
      "tron USDT in force",
      "ethereum USDC",
    ]);
    expect(offered({ options: [] })).to.deep.equal([true]);
  });
});

describe("the hosts that a payment's page may reach for wallets", () => {
  it("are those of all networks that are read, each once", () => {
    const networks = testNetworks("tron", "ethereum");
    const [tron] = networks.values();
    if (tron !== undefined) networks.set("tron-test", { ...tron, id: "tron-test" });
    const origins = (...enabled: readonly string[]) => {
      const deps = { networks, enabled: new Set(enabled), sources: {} };
      return makeCheckoutService(deps as unknown as CheckoutDependencies).walletOrigins();
    };
    expect(origins("ethereum")).to.deep.equal([]);
    expect(origins()).to.deep.equal([]);
    expect(origins("ethereum", "tron")).to.deep.equal(["https://api.trongrid.io"]);
    expect(origins("tron", "tron-test")).to.deep.equal(["https://api.trongrid.io"]);
  });
});
