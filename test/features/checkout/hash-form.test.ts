import { expect } from "chai";
import { TooManyClaims } from "../../../src/features/payments/errors.ts";
import type { ClaimResult } from "../../../src/features/payments/hash-claims/status.ts";
import { aHash, aPayment, checkoutId, openLab, type Lab } from "./lab.ts";
import { scenes } from "./scenes.ts";

const form = `<form method="post" action="/shop/pay/${checkoutId}/transactions#transaction-hash"`;
/** States in which a payment may be missing. */
const missing = new Set([
  "awaiting",
  "partly_paid",
  "expired_unpaid",
  "expired_partly_paid",
  "canceled",
  "cannot_check",
]);

/** The results after which another transaction may be entered at once. */
const refused: ReadonlySet<ClaimResult> = new Set([
  ...(["given_up", "displaced", "other_address", "other_token", "token_disabled"] as const),
  ...(["too_small", "too_early", "too_late", "not_for_this"] as const),
]);

describe("the form for a transaction hash", () => {
  let lab: Lab;
  beforeEach(async () => {
    lab = await openLab("tron", { basePath: "/shop" });
  });
  afterEach(() => lab.close());

  /** Returns the page to which the browser is redirected after submitting the form. */
  async function after(answer: Response): Promise<string> {
    expect(answer.status).to.equal(303);
    const location = answer.headers.get("location") ?? "";
    expect(location).to.match(new RegExp(`^/shop/pay/${checkoutId}\\?`));
    return (await lab.get(location.slice("/shop".length))).text();
  }

  for (const scene of scenes) {
    it(`is shown only if a payment may be missing: ${scene.name}`, async () => {
      scene.set(lab, "tron");
      const page = await (await fetch(lab.page)).text();
      expect(page.includes(form)).to.equal(missing.has(scene.state));
    });
  }

  it("is shown in review if somebody submitted what waits, because another payment may be missing", async () => {
    lab.world.payments = [aPayment({ status: "review", rule: "submitted_hash" })];
    lab.world.claims = [{ transactionHash: aHash("a"), result: "in_review" }];
    lab.change({});
    const page = await (await fetch(lab.page)).text();
    expect(page).to.contain('data-state="in_review"').and.to.contain(form);
  });

  it("has a label, and names the network", async () => {
    const page = await (await fetch(lab.page)).text();
    expect(page).to.contain(
      '<label for="transaction-hash">Transaction ID (TxID or hash) or link</label>',
    );
    expect(page).to.contain("look it up on TRON (TRC-20).");
    expect(page).to.contain("Already paid, but don&#39;t see it here?");
    expect(page).not.to.contain("aria-invalid");
  });

  for (const text of [
    aHash("a"),
    `0x${aHash("a")}`,
    aHash("A"),
    ` ${aHash("a")} `,
    `https://tronscan.org/#/transaction/${aHash("a")}`,
  ]) {
    it(`accepts ${text}`, async () => {
      const page = await after(await lab.submit(text));
      // The state says so, once.
      expect(page)
        .to.contain("<h1>Looking for your transaction</h1>")
        .and.not.to.contain("Thank you");
      expect(lab.world.submitted).to.deep.equal([aHash("a")]);
    });
  }

  for (const [text, problem] of [
    ["", "This is too short."],
    ["0x12", "This is too short."],
    [`${aHash("a")}a`, "This is too long."],
    [` 0x${aHash("A")}0 `, "This is too long."],
    ['"><script>alert(1)</script>', "We can't find one transaction ID in this link."],
    [`https://x.example/${aHash("a")}/${aHash("b")}`, "We can't find one transaction ID"],
    ["TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE", "This is an address, not a transaction ID."],
    ["x".repeat(5_000), "This isn't a transaction ID"],
  ] as const) {
    it(`refuses beside the field what is not a hash, says why, and keeps it there: ${text.slice(0, 30)}`, async () => {
      const answer = await lab.submit(text);
      const page = await answer.text();
      expect(page).to.match(
        /id="hash-error">[^<]* A transaction ID \(TxID or hash\) has 64[^<]*<\/p>\s*<input id="tr/,
      );
      expect(page).to.contain(`id="hash-error">${problem.replaceAll("'", "&#39;")}`);
      expect(page).to.contain('id="hash-form" open').and.to.contain(form);
      expect(page).to.contain('aria-invalid="true" aria-describedby="hash-error"');
      const kept = text.slice(0, 2_048).replace('"', "&quot;").replaceAll("<", "&lt;");
      expect(page.replaceAll("&gt;", ">")).to.contain(text === "" ? "" : ` value="${kept}"`);
      expect(page).not.to.contain('role="alert">').and.not.to.contain("<script>alert");
      expect(lab.world.submitted).to.deep.equal([]);
    });
  }

  it("leads to the payment again when a browser reloads the page of a refusal", async () => {
    for (const path of ["transactions", "refund"]) {
      const answer = await fetch(`${lab.page}/${path}?lang=de`, { redirect: "manual" });
      expect(answer.status).to.equal(303);
      expect(answer.headers.get("location")).to.equal(`/shop/pay/${checkoutId}?lang=de`);
    }
  });

  const results: readonly [ClaimResult, string][] = [
    ["looking", "looking for this transaction"],
    ["unknown", "know this transaction yet. We&#39;ll keep trying for an hour"],
    ["given_up", "find it."],
    ["displaced", "stopped looking to make room for a newer one"],
    ["counted", "Found. It counts toward this payment."],
    ["in_review", "Found. Café Zürich will decide whether it is for this payment."],
    ["reverted", "The network hasn&#39;t settled this transaction yet."],
    ["failed", "This transaction failed on the network, so no USDT was sent."],
    ["other_address", "went to another address, not to Café Zürich&#39;s."],
    ["other_token", "sent something other than USDT on TRON (TRC-20)."],
    ["token_disabled", "accept USDT on TRON (TRC-20) at the moment."],
    ["too_small", "This transaction sent too little to count as a payment."],
    ["too_early", "This transaction is older than this payment"],
    ["too_late", "This transaction was made long after the time to pay."],
    ["not_for_this", "This transaction is not a payment for this invoice."],
  ];
  for (const [result, words] of results) {
    it(`shows the result of a submitted transaction: ${result}`, async () => {
      lab.world.claims = [{ transactionHash: aHash("b"), result }];
      const page = await (await fetch(lab.page)).text();
      expect(page).to.contain("Transactions you entered").and.to.contain(aHash("b"));
      expect(page).to.contain(words);
      expect(page).to.contain("Enter another transaction ID").and.not.to.contain("aria-invalid");
      expect(page.includes('id="hash-form" open')).to.equal(refused.has(result));
    });
  }

  for (const scene of scenes) {
    it(`answers a submitted transaction in every state: ${scene.name}`, async () => {
      lab.world.claims = [{ transactionHash: aHash("e"), result: "other_address" }];
      scene.set(lab, "tron");
      const page = await (await fetch(lab.page)).text();
      expect(page)
        .to.contain(aHash("e"))
        .and.to.contain("went to another address, not to Café Zürich&#39;s.");
    });
  }

  it("says in the state itself that the last submitted transaction failed on the network", async () => {
    const said = "failed on the network. No USDT was sent: the money is still";
    lab.world.claims = [
      { transactionHash: aHash("b"), result: "failed" },
      { transactionHash: aHash("c"), result: "looking" },
    ];
    lab.change({});
    expect(await (await fetch(lab.page)).text()).to.contain(said);
    // A newer transaction takes its place.
    lab.world.claims.reverse();
    lab.change({});
    expect(await (await fetch(lab.page)).text()).not.to.contain(said);
  });

  it("shows the submitted hash on the page that follows, and returns it in the session", async () => {
    await fetch(lab.page);
    const page = await after(await lab.submit(aHash("a")));
    expect(page).to.contain(aHash("a")).and.to.contain("looking for this transaction");
    const answer = await fetch(`${lab.url}/v1/checkout/${checkoutId}/transactions`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ transactionHash: aHash("b") }),
    });
    expect(answer.status).to.equal(202);
    expect(await answer.json()).to.deep.include({
      submittedTransactions: [
        { transactionHash: aHash("b"), result: "looking" },
        { transactionHash: aHash("a"), result: "looking" },
      ],
    });
  });

  it("is thanked for unless the state itself says that the transaction is looked for", async () => {
    const thanks = 'role="status">Thank you. We&#39;re looking for your transaction';
    const shown = async () => (await lab.get(`/pay/${checkoutId}?hash=received`)).text();
    // The transaction is known already, or has another result by now.
    for (const results of [[], ["counted"], ["other_address", "looking"]] as const) {
      lab.world.claims = results.map((result) => ({ transactionHash: aHash("b"), result }));
      lab.change({});
      expect(await shown(), results.join()).to.contain(thanks);
    }
    lab.world.claims = [{ transactionHash: aHash("b"), result: "looking" }];
    lab.change({});
    expect(await shown()).not.to.contain(thanks);
    scenes.find(({ name }) => name === "partly paid")?.set(lab, "tron");
    expect(await shown()).to.contain(thanks);
  });

  it("is refused above the page where it is not shown", async () => {
    scenes.find(({ name }) => name === "paid")?.set(lab, "tron");
    const page = await (await lab.submit("12")).text();
    expect(page).to.match(/<p class="ribbon" role="alert">This is too short\./);
    expect(page).not.to.contain("hash-form");
  });

  it("says if too many transactions are open", async () => {
    lab.world.refusal = new TooManyClaims("Wait.");
    const page = await (await lab.submit(aHash("a"))).text();
    expect(page).to.match(/id="hash-error">We&#39;re still checking the transactions/);
    expect(page).to.contain(`value="${aHash("a")}"`);
  });

  it("is missing for an unknown checkout, and shows no text from the link", async () => {
    const page = await (await lab.get(`/pay/${checkoutId}?hash=<b>made up</b>`)).text();
    expect(page).not.to.contain("made up");
    lab.world.invoice = null;
    lab.world.at += 2_000;
    expect((await lab.submit(aHash("a"))).status).to.equal(404);
  });
});
