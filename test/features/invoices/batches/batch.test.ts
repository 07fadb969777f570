import { expect } from "chai";
import { isRefusal, refusedFor } from "../../../../src/features/invoices/batches/batch.ts";
import { StoreBusy, StoreUnavailable } from "../../../../src/platform/database/errors.ts";
import { notFound } from "../../../../src/kernel/errors.ts";

describe("An error in a batch of invoices", () => {
  it("refuses one invoice if it is a problem of that invoice", () => {
    const problem = notFound();
    expect(isRefusal(problem)).to.equal(true);
    expect(refusedFor(problem)).to.deep.equal({ outcome: "refused", problem });
  });

  it("fails the whole batch if the store is away, or nobody expects it", () => {
    for (const error of [
      new StoreUnavailable("The disk is away."),
      new StoreBusy("Other writes were in the way."),
      new Error("a defect"),
      "thrown text",
      null,
    ]) {
      expect(isRefusal(error)).to.equal(false);
      let thrown: unknown = "nothing";
      try {
        refusedFor(error);
      } catch (caught) {
        thrown = caught;
      }
      expect(thrown).to.equal(error);
    }
  });
});
