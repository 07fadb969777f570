import { expect } from "chai";
import { lockCase } from "../../../../src/features/payments/decisions/locked-case.ts";
import { payments, type PaymentRow } from "../../../../src/features/payments/table.ts";
import type { Id } from "../../../../src/kernel/id.ts";

const payment = (place: number, transferId: Id<"transfer">, invoiceId: Id<"invoice">) =>
  ({ id: `pay_${String(place)}`, transferId, invoiceId, network: "base" }) as PaymentRow;

/** Locks the first of three payments, of which another one has its transfer, and another one its invoice. */
async function lock(alsoLocked?: Id<"invoice">, isKnown = true) {
  const own = payment(1, "trf_1", "inv_2");
  const stored = [own, payment(2, "trf_1", "inv_1"), payment(3, "trf_2", "inv_2")];
  const locked: unknown[] = [];
  const tx = {
    dialect: "sqlite",
    findOne: (table: unknown) =>
      Promise.resolve(table === payments ? (isKnown ? own : null) : { tipHeight: 9 }),
    lockOne: () => Promise.resolve({ id: "trf_1" }),
    find: () => Promise.resolve(stored.filter(({ transferId }) => transferId === "trf_1")),
    lock: () => Promise.resolve(stored),
  };
  const deps = {
    networks: new Map([["base", { id: "base" }]]),
    invoices: {
      lockTerms(_tx: unknown, ids: readonly string[]) {
        locked.push(...ids);
        return Promise.resolve(new Map());
      },
    },
  };
  const found = await lockCase(tx as never, deps as never, "org_1", "pay_1", alsoLocked);
  return { locked, payment: found.payment.id, others: found.others.map(({ id }) => id) };
}

describe("A payment that is to be decided on", () => {
  it("is locked with the other payments of its transfer, and with their invoices in order", async () => {
    expect(await lock()).to.deep.equal({
      locked: ["inv_1", "inv_2"],
      payment: "pay_1",
      others: ["pay_2"],
    });
    expect((await lock("inv_0")).locked).to.deep.equal(["inv_0", "inv_1", "inv_2"]);
  });

  it("is not found in another organization", async () => {
    const error = await lock(undefined, false).catch((caught: unknown) => caught);
    expect(error).to.have.property("code", "not_found");
  });
});
