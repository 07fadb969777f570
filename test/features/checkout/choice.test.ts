import { expect } from "chai";
import {
  makeCheckoutService,
  type CheckoutDependencies,
} from "../../../src/features/checkout/service.ts";
import type { PayerInvoice } from "../../../src/features/invoices/index.ts";
import type { Tx } from "../../../src/platform/database/index.ts";
import { stillClock } from "../../support/app.ts";
import { refusal } from "../../support/invoice-services-fixture.ts";
import { testNetworks } from "../../support/merchants.ts";
import { testContext } from "../../support/store/stores.ts";
import { anInvoice, aPayment, aState, checkoutId, startOfTime } from "./lab.ts";

const networks = testNetworks("tron", "ethereum");
const options = [
  { network: "tron", tokenSymbol: "USDT", isHeld: true },
  { network: "tron", tokenSymbol: "USDC", isHeld: true },
  { network: "ethereum", tokenSymbol: "USDT", isHeld: true },
];

/** A service with one invoice, in which `gone` was deleted after it was found. */
function open(changes: Partial<PayerInvoice>, payments: readonly object[] = [], gone = false) {
  const chosen: string[] = [];
  const stored = {
    version: "1",
    invoice: anInvoice("tron", { options, ...changes }),
    payments,
    submitted: [],
    refunds: [],
    leftToMerchant: new Set(),
    merchant: { displayName: "Shop", allowedOrigins: [] },
  };
  const states = new Map(
    (["tron", "ethereum"] as const).map((id) => [
      id,
      { ...aState(id, startOfTime), cursorHash: "", version: 1 },
    ]),
  );
  const service = makeCheckoutService({
    db: { write: (_context: unknown, fn: (tx: Tx) => unknown) => fn({} as Tx) },
    clock: stillClock(startOfTime),
    networks,
    enabled: new Set(networks.keys()),
    baseUrl: () => "https://pay.example",
    sources: {
      versions: () =>
        Promise.resolve(
          new Map([[checkoutId, { version: "1", network: "tron", networkVersion: 1 }]]),
        ),
      load: () => Promise.resolve(new Map([[checkoutId, stored]])),
      networkStates: () => Promise.resolve(states),
      checkoutIn: () => Promise.resolve(gone ? null : { stored, states }),
    },
    choose(_tx: Tx, _id: string, { network, tokenSymbol }: Record<string, string>) {
      chosen.push(`${String(network)} ${String(tokenSymbol)}`);
      return Promise.resolve();
    },
  } as unknown as CheckoutDependencies);
  const choose = (network: string, tokenSymbol: string) =>
    service.chooseOption(testContext, checkoutId, { network, tokenSymbol });
  return { choose, chosen };
}

const reverted = { ...aPayment({ status: "reverted", isExpectedBack: true }), network: "tron" };

describe("Choosing an option of a checkout", () => {
  it("is possible while something may be paid, and returns the session", async () => {
    const { choose, chosen } = open({});
    const session = await choose("ethereum", "USDT");
    expect(session).to.include({ id: checkoutId, state: "awaiting" });
    expect(session.options).to.have.length(3);
    await choose("tron", "USDT");
    expect(chosen).to.deep.equal(["ethereum USDT", "tron USDT"]);
  });

  it("is refused while nothing should be sent, except for the option in force", async () => {
    for (const [changes, payments] of [
      [{}, [reverted]],
      [{ status: "paid", paidAt: startOfTime }, []],
    ] as const) {
      const { choose, chosen } = open(changes, payments);
      for (const [network, token] of [
        ["ethereum", "USDT"],
        ["tron", "USDC"],
        ["ethereum", "USDC"],
      ] as const) {
        const { code } = await refusal(choose(network, token));
        expect(code, `${network} ${token}`).to.equal("invoice_not_open");
      }
      expect(chosen).to.deep.equal([]);
      await choose("tron", "USDT");
      expect(chosen).to.deep.equal(["tron USDT"]);
    }
  });

  it("of a checkout that was deleted meanwhile finds none", async () => {
    const { choose } = open({}, [], true);
    expect((await refusal(choose("tron", "USDT"))).code).to.equal("not_found");
  });
});
