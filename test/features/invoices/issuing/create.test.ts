import { expect } from "chai";
import { isExternalIdTaken } from "../../../../src/features/invoices/issuing/create.ts";
import { UniqueViolation } from "../../../../src/platform/database/errors.ts";

describe("A taken externalId", () => {
  it("is a violation of its index, and of no other one", () => {
    const taken = new UniqueViolation("invoices", "invoices_external_id");
    expect(isExternalIdTaken(taken)).to.equal(true);
    expect(isExternalIdTaken(new UniqueViolation("invoices", "invoices_public_id"))).to.equal(
      false,
    );
    expect(isExternalIdTaken(Object.assign(new Error("no"), { index: taken.index }))).to.equal(
      false,
    );
  });
});
