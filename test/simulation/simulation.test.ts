// Seeded histories of merchants, payers, operators, attackers, lying providers, reorganizations and crashes, played to the
// composed app and compared with a model. A failure is printed with its steps and the command that plays it again.
import { play, shrink, told } from "./play.ts";
import { openStage, type Stage } from "./stage.ts";
import { testsAll } from "../support/store/stores.ts";

const histories = testsAll ? 400 : 150;
const steps = 12;
/** The store is verified after every step of one in so many, and at the end of all. */
const verifiedEvery = 30;

describe("Simulated histories", () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage();
  });
  after(() => stage.dispose());

  it("leave every invoice, transfer, hold, credit and platform invoice as the model says", async () => {
    for (let seed = 1; seed <= histories; seed += 1) {
      const verifies = seed % verifiedEvery === 0 ? "steps" : "end";
      const history = { seed, steps };
      const fault = await play(stage, history, { verifies });
      if (fault === null) continue;
      const options = { verifies: "steps" } as const;
      const less = await shrink(stage, history, options);
      throw new Error(told(less.history, less.fault, options));
    }
  });
});
