// Limits that 64 callers meet at once, through the whole program: a race passes none of them.
import { expect } from "chai";
import { streamLimits } from "../../../src/features/checkout/live.ts";
import { eachStore } from "../../support/store/stores.ts";
import { openEstate, type Estate } from "../estate.ts";
import { callers, races } from "./races.ts";

eachStore("a limit that 64 callers meet at once", (store) => {
  let estate: Estate;

  before(async () => {
    estate = await openEstate(store);
  });
  after(() => estate.stop());

  for (const [limit, prepare] of Object.entries(races)) {
    it(`is never passed: ${limit}`, async () => {
      const { call, admitted, refusals, verify } = await prepare(estate);
      const answers = await Promise.all(
        Array.from({ length: callers }, (_, caller) => call(caller)),
      );
      const refused = answers.filter(({ status }) => status >= 300);
      const codes = new Set(refused.map(({ body }) => String(body["code"])));
      expect([...codes].filter((code) => !refusals.includes(code))).to.deep.equal([]);
      if (admitted !== undefined) expect(callers - refused.length).to.equal(admitted);
      await verify?.(answers);
    });
  }

  it("is never passed: the streams of a checkout", async () => {
    const { checkoutId } = await estate.counter.issue(estate.owner);
    const stopping = new AbortController();
    const { perCheckout } = streamLimits;
    const opened = await Promise.all(
      Array.from({ length: callers }, async () => {
        const answer = await fetch(`${estate.app.url}/pay/${String(checkoutId)}/events`, {
          signal: stopping.signal,
        });
        if (answer.status !== 200) return answer.status;
        const reader = answer.body?.getReader();
        const decoder = new TextDecoder();
        let text = "";
        for (;;) {
          const part = await reader?.read();
          if (part === undefined || part.done) return "ended";
          text += decoder.decode(part.value as Uint8Array);
          if (text.includes("event: session")) return "open";
        }
      }),
    );
    stopping.abort();
    expect(opened.filter((each) => each === "open")).to.have.length(perCheckout);
    const others = new Set(opened.filter((each) => each !== "open"));
    expect([...others].filter((each) => each !== "ended" && each !== 429)).to.deep.equal([]);
  });
});
