import { expect } from "chai";
import type { DeliveryView } from "../../../src/features/webhooks/delivery/store.ts";
import { faultOf, replayAll } from "../../../src/features/webhooks/replay-period.ts";
import { notFound } from "../../../src/kernel/errors.ts";
import { testContext } from "../../support/store/stores.ts";

const found = Array.from(
  { length: 12 },
  (_, place) => ({ id: `whd_${String(place)}` }) as DeliveryView,
);

/** Replays all of `found`; `replay` gives the result of each. */
function replayWith(
  replay: (id: string) => Promise<DeliveryView>,
  isInterrupted: () => boolean = () => false,
) {
  const call = {
    context: testContext,
    attempt: <T>(write: Promise<T>) => write,
    interruptible: <T>(work: (asked: () => boolean) => Promise<T>) => work(isInterrupted),
  };
  return replayAll({ replay: (_context, id) => replay(id) }, call, found);
}
const replayed = (id: string) => Promise.resolve({ replayOf: id } as DeliveryView);
const names = (deliveries: readonly DeliveryView[]) => deliveries.map(({ replayOf }) => replayOf);

describe("The replay of a period", () => {
  it("replays all deliveries in order, without a fault", async () => {
    const result = await replayWith(replayed);
    expect(names(result.deliveries)).to.deep.equal(found.map(({ id }) => id));
    expect(result).to.deep.include({ refused: [], isInterrupted: false });
    expect(faultOf(result)).to.equal(null);
  });

  it("continues after a refused one, and names ten of those", async () => {
    const some = await replayWith((id) =>
      id === "whd_1" ? Promise.reject(notFound()) : replayed(id),
    );
    expect(some.deliveries).to.have.length(11);
    expect(some.refused.map(({ delivery }) => delivery.id)).to.deep.equal(["whd_1"]);
    expect(faultOf(some)).to.have.property("code", "not_all_replayed");
    expect(faultOf(some)?.message).to.match(/^1 delivery was refused:\n {2}whd_1: [^\n]+$/);
    const none = await replayWith(() => Promise.reject(notFound()));
    expect(none).to.deep.include({ deliveries: [], isInterrupted: false });
    const lines = faultOf(none)?.message.split("\n") ?? [];
    expect(lines).to.have.length(12);
    expect([lines[0], lines[11]]).to.deep.equal(["12 deliveries were refused:", "  …"]);
    const ten = faultOf({ ...none, refused: none.refused.slice(0, 10) });
    expect(ten?.message.split("\n")).to.have.length(11);
  });

  it("ends between two deliveries on Ctrl-C, and on a failure that is not a refusal", async () => {
    let asked = 0;
    const stopped = await replayWith(replayed, () => (asked += 1) > 2);
    expect(names(stopped.deliveries)).to.deep.equal(["whd_0", "whd_1"]);
    expect(stopped.isInterrupted).to.equal(true);
    expect(faultOf(stopped)).to.have.property("name", "Interrupted");
    const failure = new Error("the store is away");
    const failed = replayWith(() => Promise.reject(failure));
    expect(await failed.catch((error: unknown) => error)).to.equal(failure);
  });
});
