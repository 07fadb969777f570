import { expect } from "chai";
import { makeTransferService } from "../../../../src/features/payments/inbox/service.ts";
import { paymentClaims } from "../../../../src/features/payments/table.ts";

describe("The transactions that payers submitted", () => {
  it("are listed with the payments of their own invoices, by these transactions alone", async () => {
    const claim = (invoiceId: string, transactionHash: string) => ({
      id: `clm_${invoiceId}_${transactionHash}`,
      network: "base",
      invoiceId,
      transactionHash,
    });
    const claims = [claim("inv_2", "aa"), claim("inv_1", "bb"), claim("inv_1", "aa")];
    const payment = (id: string, invoiceId: string, transactionHash: string) => ({
      id,
      invoiceId,
      transactionHash,
    });
    const paid = [payment("pay_1", "inv_1", "aa"), payment("pay_2", "inv_1", "cc")];
    const service = makeTransferService({
      networks: new Map(),
      db: {
        dialect: "sqlite",
        find: (table: unknown) => Promise.resolve(table === paymentClaims ? claims : paid),
      },
    } as never);
    const { data } = await service.listClaims("org_1", {});
    expect(data.map(({ payments }) => payments.map(({ id }) => id))).to.deep.equal([
      [],
      [],
      ["pay_1"],
    ]);
  });
});
