import { expect } from "chai";
import { testWords } from "../../../src/features/checkout/page/english-only.ts";
import { anInvoice, aPayment, checkoutId, openLab, type Lab, type LabNetwork } from "./lab.ts";

const buttons = {
  pay: "Pay",
  underpay: "Underpay",
  overpay: "Overpay",
  mine: "Mine",
  reorganize: "Lose payment",
  expire: "Expire",
} as const;
const ribbon = "no real money";

describe("the test panel of a checkout", () => {
  let lab: Lab;
  afterEach(() => lab.close());

  const html = async (): Promise<string> => (await fetch(lab.page)).text();

  it("is on the page of the test network, with a ribbon that says so", async () => {
    lab = await openLab("sandbox");
    const text = await html();
    expect(text).to.contain(ribbon);
    for (const [action, name] of Object.entries(buttons)) {
      expect(text).to.match(new RegExp(`name="action" value="${action}">${name}<`));
    }
    expect(text).to.contain(`method="post" action="/pay/${checkoutId}/sandbox"`);
  });

  const to = anInvoice("sandbox").walletAddress.slice(2).toLowerCase();
  const done: Readonly<Record<string, string>> = {
    pay: `pay ${to} 10`,
    underpay: `pay ${to} 5`,
    overpay: `pay ${to} 11`,
    mine: "mine 1",
    reorganize: "reorganize",
    expire: "expire",
  };
  for (const [action, pressed] of Object.entries(done)) {
    it(`performs ${action} and sends the browser back to the page`, async () => {
      lab = await openLab("sandbox", { basePath: "/shop" });
      lab.world.payments = [aPayment()];
      const answer = await lab.press(action);
      expect(answer.status).to.equal(303);
      expect(answer.headers.get("location")).to.equal(`/shop/pay/${checkoutId}?done=${action}`);
      expect(lab.world.pressed).to.deep.equal([pressed]);
    });
  }

  it("says that there is nothing to reorganize without a payment that can be removed", async () => {
    lab = await openLab("sandbox");
    const answer = await lab.press("reorganize");
    const page = await fetch(new URL(answer.headers.get("location") ?? "", lab.url));
    expect(await page.text()).to.contain(
      `<p class="ribbon" role="alert">${testWords.noPayment}</p>`,
    );
  });

  it("reports the action on the page, in the catalogue's words only", async () => {
    lab = await openLab("sandbox");
    const notices = async (done: string): Promise<string[]> => {
      const text = await (await fetch(`${lab.page}?done=${encodeURIComponent(done)}`)).text();
      expect(text).not.to.contain("elsewhere");
      return [...text.matchAll(/<p class="ribbon" role="status">([^<]*)<\/p>/g)].map(
        ([, said]) => said ?? "",
      );
    };
    const said = await Promise.all(Object.keys(done).map(notices));
    expect(said).to.deep.equal([
      [testWords.paid],
      [testWords.underpaid],
      [testWords.overpaid],
      [testWords.mined],
      [testWords.reorganized],
      [testWords.expired],
    ]);
    for (const none of ["", "steal", "toString", "<b>Send it elsewhere</b>"]) {
      expect(await notices(none), none).to.deep.equal([]);
    }
  });

  it("shows what an action has changed on the page that follows", async () => {
    lab = await openLab("sandbox");
    await html();
    await lab.press("pay");
    lab.world.invoice = anInvoice("sandbox", { status: "canceled" });
    expect(await html()).to.contain("Canceled by ");
  });

  it("refuses an unknown action", async () => {
    lab = await openLab("sandbox");
    for (const action of ["", "steal", "toString", "pay "]) {
      expect((await lab.press(action)).status, action).to.equal(400);
    }
    expect(lab.world.pressed).to.deep.equal([]);
  });

  it("refuses GET", async () => {
    lab = await openLab("sandbox");
    expect((await lab.get(`/pay/${checkoutId}/sandbox`)).status).to.equal(405);
  });

  for (const network of ["tron", "ethereum"] as const satisfies readonly LabNetwork[]) {
    it(`is missing on ${network}, whatever is sent, even if the sandbox is enabled`, async () => {
      lab = await openLab(network, { hasSandbox: true });
      const text = await html();
      expect(text).not.to.contain(ribbon);
      expect(text).not.to.contain("/sandbox");
      const asked = await (await fetch(`${lab.page}?done=pay`)).text();
      expect(asked).not.to.contain(testWords.paid);
      for (const action of [...Object.keys(buttons), "steal"]) {
        expect((await lab.press(action)).status, action).to.equal(404);
      }
      expect(lab.world.pressed).to.deep.equal([]);
    });
  }

  it("is missing for a test invoice once the sandbox is disabled, and the ribbon stays", async () => {
    lab = await openLab("sandbox", { hasSandbox: false });
    const text = await html();
    expect(text).to.contain(ribbon);
    expect(text).not.to.contain("/sandbox");
    expect((await lab.press("pay")).status).to.equal(404);
  });

  it("is missing for an unknown checkout", async () => {
    lab = await openLab("sandbox");
    lab.world.invoice = null;
    expect((await lab.press("pay")).status).to.equal(404);
  });
});
