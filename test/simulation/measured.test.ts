// Shares of payments at a shared address that decisions 19 and 56 bound, measured on the composed app with a SQLite store.
import { expect } from "chai";
import { linkLimits } from "../../src/features/invoices/issuing/link-limits.ts";
import { aimedShare, waitingShare } from "./measured.ts";
import { openStage, type Stage } from "./stage.ts";

const percentOf = ({ some, all }: { readonly some: number; readonly all: number }) =>
  (some / all) * 100;

describe("Measured payments at a shared address", () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage();
  });
  after(() => stage.dispose());

  it("wait for the merchant in at most 2 % of cases if they are honest and exact, with 20 open orders of a price list", async () => {
    const share = await waitingShare(stage, { seed: 1, orders: 250, open: 20 });
    expect(share.all).to.be.at.least(150);
    expect(percentOf(share)).to.be.at.most(2);
  });

  it("are credited to a stranger who enters their amount as often as a link admits in under 1 % of 1,000 cases", async () => {
    const share = await aimedShare(stage, {
      seed: 1,
      rounds: 4,
      entered: linkLimits.link,
      trials: 250,
    });
    expect(share.all).to.equal(1_000);
    expect(percentOf(share)).to.be.below(1);
  });
});
