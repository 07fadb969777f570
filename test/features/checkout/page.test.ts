import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { decodeQR } from "qr/decode.js";
import { hour, minute } from "../../../src/kernel/clock.ts";
import { money, tokenAsset } from "../../../src/kernel/money/money.ts";
import { catalogues } from "./shipped-languages.ts";
import type { ClaimResult } from "../../../src/features/payments/hash-claims/status.ts";
import {
  InvoiceNotOpen,
  NetworkNotReady,
  OptionLimitReached,
} from "../../../src/features/invoices/errors.ts";
import { notFound } from "../../../src/kernel/errors.ts";
import { StoreUnavailable } from "../../../src/platform/database/errors.ts";
import { expectGolden } from "../../support/golden.ts";
import { aPng } from "../../support/pictures/pictures.ts";
import {
  aHash,
  aPayment,
  aRefund,
  aState,
  anInvoice,
  checkoutId,
  inUsdt,
  openLab,
  organizationId,
  startOfTime,
  type Lab,
  type LabNetwork,
} from "./lab.ts";
import { scenes } from "./scenes.ts";

const address = "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE";
/** The states in which a payer is asked for money. */
const asking = ["awaiting", "partly paid", "cannot check now"];
/** The states in which a deadline concerns the payer, or explains what has happened. */
const withDeadline = [
  ...asking,
  "expired unpaid",
  "expired partly paid",
  "late and not accepted yet",
  "cannot check, and the time is over",
];

const hostileNames = [
  `<script>alert(1)</script>`,
  `</title><script>alert(1)</script>`,
  `"><img src=x onerror=alert(1)>`,
  `'><svg onload=alert(1)>`,
  `" autofocus onfocus="alert(1)`,
  `' onmouseover='alert(1)`,
  `<iframe src="javascript:alert(1)"></iframe>`,
  `<a href="javascript:alert(1)">x</a>`,
  `&lt;script&gt;alert(1)&lt;/script&gt;`,
  `--><script>alert(1)</script><!--`,
  `]]><script>alert(1)</script>`,
  `<style>*{display:none}</style>`,
  `<meta http-equiv="refresh" content="0;url=//evil.example">`,
  "<%= it.text.lang %><%~ 1 %>${alert(1)}{{7*7}}{merchant}",
  `<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>`,
] as const;

/** The text that a browser shows for the escapes that templates write. */
function unescape(html: string): string {
  return html
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
}

function textOf(html: string): string {
  return unescape(html.replace(/<[^>]*>/g, " ")).replace(/\s+/g, " ");
}

/** A page without its drawn code, its token, and the digests of its state and of its style and script. */
function withoutDigests(html: string): string {
  return html
    .replaceAll(/ d="[^"]{200,}"/g, ' d="…"')
    .replaceAll(/(name="pageToken" value=")[^"]+/g, "$1…")
    .replaceAll(/(\.|data-version=")[0-9a-f]{16}\b/g, "$1…");
}

const disabled = (at: number) => ({ ...aState("tron", at), disabledTokens: ["USDT"] });

describe("the page of a checkout", () => {
  let lab: Lab;
  afterEach(() => lab.close());

  async function html(): Promise<string> {
    const answer = await fetch(lab.page);
    expect(answer.status).to.equal(200);
    return answer.text();
  }

  async function inScene(name: string, network: LabNetwork = "tron"): Promise<string> {
    lab = await openLab(network);
    scenes.find((scene) => scene.name === name)?.set(lab, network);
    return html();
  }

  for (const scene of scenes) {
    it(`has its own text for: ${scene.name}`, async () => {
      const page = await inScene(scene.name);
      expect(page).to.contain(`data-state="${scene.state}"`);
      expect(unescape(page)).to.contain(`<h1>${scene.headline}</h1>`);
      const isFinal = ["paid", "overpaid", "paid late"].includes(scene.name);
      expect(page.includes("Check again"), "can be read again").to.equal(!isFinal);
      expect(page, "is polled").to.contain(`data-poll-ms="${isFinal ? "5000" : "1000"}"`);
      const hasTotal = ["paid", "paid late"].includes(scene.name);
      expect(page.includes('class="total"'), "has a total").to.equal(hasTotal);
      expect(page.includes('class="sums"'), "has sums").to.equal(scene.name === "overpaid");
      expect(textOf(page), "nothing is due").not.to.contain("Amount due");
      expect(textOf(page), "every placeholder is filled").not.to.match(/\{\w+\}/);
      // The address is there to be paid to, and nowhere else.
      expect(textOf(page).includes(" TQn9Y2 "), "asks").to.equal(asking.includes(scene.name));
      expect(page.includes('role="img"'), "shows a code").to.equal(asking.includes(scene.name));
      const file = `golden/${scene.name.replaceAll(/\W+/g, "-")}.txt`;
      expectGolden(new URL(file, import.meta.url), withoutDigests(page));
    });
  }

  it("is the same until its checkout changes, with the server's time in a header", async () => {
    lab = await openLab("tron");
    const first = await fetch(lab.page);
    lab.world.at += 5_000;
    const again = await fetch(lab.page);
    expect(await again.text()).to.equal(await first.text());
    expect(again.headers.get("ETag")).to.equal(first.headers.get("ETag"));
    expect(first.headers.get("Server-Timing")).to.equal(`now;desc="${String(startOfTime)}"`);
    expect(again.headers.get("Server-Timing")).to.equal(`now;desc="${String(lab.world.at)}"`);
    lab.change({ status: "canceled" });
    expect(await (await fetch(lab.page)).text()).to.contain('data-state="canceled"');
  });

  it("shows the message of a form to its sender alone", async () => {
    lab = await openLab("tron");
    const sent = unescape(await (await lab.submit("x")).text());
    expect(sent).to.contain("This isn't a transaction ID");
    expect(await (await fetch(lab.page)).text()).not.to.contain("This isn't a transaction ID");
  });

  it("says what became of a request for a refund, to its sender alone", async () => {
    lab = await openLab("tron");
    const after = async (query: string) =>
      unescape(await (await fetch(`${lab.page}${query}`)).text());
    const thanks = "Café Zürich has your request. This page shows when the refund is on its way.";
    const already = "A refund of this payment has already been requested";
    expect(await after("?refund=received"))
      .to.contain(thanks)
      .and.not.to.contain(already);
    expect(await after("?refund=already"))
      .to.contain(already)
      .and.not.to.contain(thanks);
    for (const query of ["", "?refund=", "?refund=requested", "?refund=constructor"]) {
      expect(await after(query), query)
        .not.to.contain(thanks)
        .and.not.to.contain(already);
    }
  });

  it("says after the time to pay what became of money first, then of a transaction", async () => {
    lab = await openLab("tron");
    scenes.find(({ name }) => name === "expired unpaid")?.set(lab, "tron");
    const shown = async (changes: Parameters<Lab["change"]>[0] = {}) => {
      lab.change(changes);
      const page = unescape(await html());
      return [/<h1>([^<]*)</.exec(page)?.[1], textOf(page)] as const;
    };
    const over = "The time to pay is over";
    lab.world.claims = [{ transactionHash: aHash("b"), result: "failed" }];
    const [failed, newLink] = await shown();
    expect(failed).to.equal("Your transaction failed");
    expect(newLink).to.contain("The time to pay is over too").and.to.contain("for a new link");
    // A payment can be asked back beside it, or only the merchant can return it.
    const spare = aPayment({ status: "rejected", amount: inUsdt("12.50").units, blockHeight: 900 });
    lab.world.payments = [spare];
    const [asked, ask] = await shown();
    expect(asked).to.equal(over);
    expect(ask).to.contain("received 12.50 USDT").and.to.contain("Press the button");
    lab.world.claims = [{ transactionHash: aHash("b"), result: "looking" }];
    lab.world.leftToMerchant = [spare.id];
    const [left, contact] = await shown({ owed: inUsdt("12.50") });
    expect(left).to.equal(over);
    expect(contact).to.contain("To get 12.50 USDT back, contact");
    lab.world.leftToMerchant = [];
    lab.world.claims = [];
    // Beside refunds that were declined.
    const declined = aRefund({ status: "rejected", reason: "Not yours", amount: spare.amount });
    for (const [status, headline, words] of [
      ["requested", over, "A refund of 12.50 USDT was requested."],
      ["sent", "Your refund is on its way", "Café Zürich has sent 12.50 USDT back."],
      ["confirmed", "Your money was sent back", "Café Zürich has sent 12.50 USDT back."],
    ] as const) {
      lab.world.payments = [{ ...spare, isSpare: false }];
      lab.world.refunds = [declined, aRefund({ status, amount: spare.amount })];
      const [title, text] = await shown({ owed: inUsdt("0.00") });
      expect(title, status).to.equal(headline);
      expect(text).to.contain(words).and.not.to.contain("Already sent it?");
      expect(text).not.to.contain("You can ask for a refund here in some minutes");
    }
    lab.world.refunds = [declined];
    const [nothing, already] = await shown();
    expect(nothing).to.equal(over);
    expect(already).to.contain("Already sent it?").and.to.contain("Not sent yet?");
  });

  it("says beside a canceled payment what the payer may still do", async () => {
    lab = await openLab("tron");
    scenes.find(({ name }) => name === "canceled")?.set(lab, "tron");
    expect(textOf(await html())).to.contain("Already sent it? It will appear here");
    // Refunds that were declined and confirmed: nothing else is missing.
    lab.world.refunds = [
      aRefund({ status: "rejected", reason: "Not yours" }),
      aRefund({ status: "confirmed" }),
    ];
    lab.change({});
    expect(textOf(await html())).not.to.contain("Already sent it?");
    lab.world.refunds = [aRefund({ status: "rejected" })];
    lab.change({});
    expect(textOf(await html()))
      .to.contain("withdrawn, because the payment is needed after all")
      .and.to.contain("Already sent it?");
  });

  it("offers a refund beside the merchant's decision only where the payer can ask for it", async () => {
    lab = await openLab("tron");
    scenes.find(({ name }) => name === "canceled, and money came")?.set(lab, "tron");
    const leaves = "To be sure that it can be refunded, leave your address below.";
    const asks = "or would you rather have a refund?";
    expect(textOf(await html()))
      .to.contain(leaves)
      .and.not.to.contain(asks);
    lab.world.payments = lab.world.payments.map((each) => ({ ...each, isSpare: false }));
    lab.change({});
    expect(textOf(await html()))
      .to.contain(asks)
      .and.not.to.contain(leaves);
  });

  it("counts what an expired payment received once, although its refund can be asked for", async () => {
    const page = await inScene("expired partly paid");
    expect(textOf(page)).to.contain("Received 10.00 USDT Network");
    expect(page.match(/class="hash"/g)).to.have.length(1);
  });

  it("asks for the rest without the price, and names no price in the token itself", async () => {
    const whole = textOf(await inScene("awaiting"));
    expect(whole).to.contain("Amount to pay").and.to.contain("Price: $25.00");
    lab.change({ amount: inUsdt("25.0001") });
    expect(textOf(await html())).not.to.contain("Price:");
    await lab.close();
    const part = textOf(await inScene("partly paid"));
    expect(part).to.contain("Still to pay").and.not.to.contain("Price:");
  });

  it("draws the symbol of a token as large as its letters allow, and has no link of a token that is gone", async () => {
    lab = await openLab("ethereum");
    for (const [code, letters, size] of [
      ["DA", "DA", 18],
      ["GON", "GON", 15],
      ["GONE", "GONE", 11],
      ["GONERS", "GONE", 11],
    ] as const) {
      const amount = money(25_000_100n, tokenAsset(code, 6));
      lab.change({
        payable: amount,
        asked: amount,
        remaining: amount,
        received: { ...amount, units: 0n },
      });
      expect(await html()).to.contain(`font-size="${String(size)}">${letters}<`);
    }
    const session = await (await lab.get(`/v1/checkout/${checkoutId}`)).json();
    expect(session).to.deep.include({ paymentUri: null, walletTransfer: null });
  });

  it("offers other tokens and networks beside the request, or in its place while it cannot be paid", async () => {
    lab = await openLab("tron");
    const options = [
      { network: "tron", tokenSymbol: "USDT", isHeld: true },
      { network: "ethereum", tokenSymbol: "USDT", isHeld: false },
    ];
    const shown = async (changes: Parameters<Lab["change"]>[0]) => {
      lab.change(changes);
      const page = await html();
      const [form = ""] = /<details class="options[^]*?<\/details>/.exec(page) ?? [];
      const values = Array.from(form.matchAll(/value="([^"]*)"( aria-current)?/g), (found) =>
        found.slice(1).join(""),
      );
      return { page, values, isFresh: form.includes("data-fresh") };
    };
    const both = ["tron/USDT aria-current", "ethereum/USDT"];
    expect((await shown({})).values).to.deep.equal([]);
    expect(await shown({ options }))
      .to.include({ isFresh: true })
      .and.deep.include({ values: both });
    expect(await shown({ options: options.map((each) => ({ ...each, isHeld: true })) }))
      .to.include({ isFresh: false })
      .and.deep.include({ values: both });
    scenes.find(({ name }) => name === "partly paid")?.set(lab, "tron");
    expect(await shown({ options }))
      .to.include({ isFresh: false })
      .and.deep.include({ values: both });
    await lab.close();
    lab = await openLab("tron");
    lab.world.enabled.delete("tron");
    const { page, values } = await shown({ options });
    expect(values).to.deep.equal(both);
    expect(page).not.to.contain('id="amount"');
    expect(textOf(page)).to.contain("You can pay with another token or network below.");
    expect(textOf((await shown({ hasRoom: false })).page)).to.contain("for another way to pay.");
  });

  it("keeps a wallet's place while a transaction is looked for, and tells it which ones were not found", async () => {
    lab = await openLab("tron");
    const wallets = async (changes: Parameters<Lab["change"]>[0] = {}) => {
      lab.change(changes);
      const [tag] = /<div class="wallets"[^>]*>/.exec(await html()) ?? [];
      const valueOf = (name: string) => new RegExp(`data-${name}="([^"]*)"`).exec(tag ?? "")?.[1];
      return tag === undefined ? null : ["standard", "settled", "data"].map(valueOf);
    };
    const [standard, settled, calldata] = (await wallets()) ?? [];
    expect([standard, settled]).to.deep.equal(["tip-6963", ""]);
    expect(calldata).to.match(/^0xa9059cbb/);
    expect(await html()).to.contain("tronlinkoutside://pull.activity?param=");
    lab.world.claims = [
      { transactionHash: aHash("a"), result: "looking" },
      { transactionHash: aHash("b"), result: "failed" },
      { transactionHash: aHash("c"), result: "given_up" },
    ];
    expect(await wallets()).to.deep.equal(["", `${aHash("b")} ${aHash("c")}`, ""]);
    expect(await html()).not.to.contain("tronlinkoutside:");
    lab.world.claims = lab.world.claims.slice(1);
    const after = (await wallets()) ?? [];
    expect(after.slice(0, 2)).to.deep.equal(["tip-6963", `${aHash("b")} ${aHash("c")}`]);
    // A wallet's app opens pages over https only.
    lab.change({ checkoutUrl: `http://pay.example/pay/${checkoutId}` });
    expect(await html()).not.to.contain("tronlinkoutside:");
    await lab.close();
    // Wallets of the test network are not in browsers.
    lab = await openLab("sandbox");
    expect(await wallets()).to.equal(null);
    lab.world.claims = [{ transactionHash: aHash("b"), result: "failed" }];
    expect(await wallets()).to.equal(null);
    lab.world.claims = [{ transactionHash: aHash("a"), result: "looking" }];
    expect(await wallets()).to.deep.equal(["", "", ""]);
  });

  it("says why another option was not chosen, unless there is no such payment, or Till itself has failed", async () => {
    lab = await openLab("tron");
    const choose = async (refusal: Error) => {
      lab.world.choiceRefusal = refusal;
      const answer = await fetch(`${lab.page}/option`, {
        method: "POST",
        body: new URLSearchParams({ option: "ethereum/USDT" }),
        redirect: "manual",
      });
      if (answer.status !== 303) return answer.status;
      const location = answer.headers.get("location") ?? "";
      return [location.split("?")[1], textOf(await (await lab.get(location)).text())] as const;
    };
    const words = [
      [new OptionLimitReached("Full."), "option=full", "You can still choose one of those."],
      [new InvoiceNotOpen("Over."), "option=closed", "The way to pay can't be changed now."],
      [new NetworkNotReady("Later."), "option=refused", "That way to pay isn't available"],
    ] as const;
    for (const [refusal, query, said] of words) {
      const [result, page] = (await choose(refusal)) as readonly [string, string];
      expect(result).to.equal(query);
      expect(page).to.contain(said);
    }
    expect(await choose(notFound())).to.equal(404);
    expect(await choose(new StoreUnavailable("the disk is full"))).to.equal(503);
    expect(await choose(new Error("a defect"))).to.equal(500);
  });

  it("is complete without a script", async () => {
    const page = await inScene("awaiting");
    const text = textOf(page);
    expect(text).to.contain("Café Zürich");
    expect(page).to.contain('<span id="amount">25.00<b class="tail">01</b></span>');
    expect(text).to.contain("on TRON (TRC-20)");
    expect(text).to.contain("Address on TRON (TRC-20)");
    expect(page.replaceAll(/<\/?b>/g, "")).to.contain(`translate="no" dir="ltr">${address}</p>`);
    expect(text).to.contain("25.0001 USDT must arrive");
    expect(text).to.contain("Pay by 21 Nov 2026, 10:30 UTC");
    expect(text).to.contain("Price: $25.00");
    expect(text).to.contain("the last digits tell us the payment is yours");
    expect(text).to.contain("you also need a little TRX for the network fee.");
    // Elements that need a script are hidden without it.
    for (const [button] of page.matchAll(/<button type="button"[^>]*>/g)) {
      expect(button).to.contain("hidden");
    }
  });

  it("draws the code dark on white with a quiet zone, and labels it", async () => {
    const page = await inScene("awaiting", "ethereum");
    const [bare, full] = Array.from(
      page.matchAll(/<div class="code" role="img" aria-label="([^"]*)"[^>]*>\s*(<svg.*?<\/svg>)/gs),
      ([, label = "", svg = ""]) => ({ label, svg }),
    );
    const evmAddress = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
    expect(bare?.label).to.equal(`QR code: the address ${evmAddress} on Ethereum (ERC-20)`);
    expect(read(bare?.svg ?? "")).to.equal(evmAddress);
    expect(full?.label).to.equal(`QR code: pay 25.0001 USDT on Ethereum (ERC-20) to ${evmAddress}`);
    const session = (await (await lab.get(`/v1/checkout/${checkoutId}`)).json()) as {
      paymentUri: string;
    };
    expect(read(full?.svg ?? "")).to.equal(session.paymentUri);
  });

  it("keeps the code that some wallets misread behind a switch, with what the wallet must show", async () => {
    const page = await inScene("awaiting", "ethereum");
    const [shown = "", folded = ""] = page.split('<details id="other-code">');
    // The script of wallets compares the contract, which no payer sees.
    expect(shown.replace(/ data-contract="\w+"/, ""))
      .not.to.contain("ethereum:")
      .and.not.to.contain("dAC17F958D2ee523a2206206994597C13D831ec7");
    const [inside = ""] = folded.split("</details>");
    expect(textOf(inside)).to.contain("Use a code that fills in the amount");
    expect(textOf(inside)).to.contain(
      "a recipient that ends in Ef1BeAed and an amount of 25.0001 USDT",
    );
    expect(inside).to.contain(
      'href="ethereum:0xdAC17F958D2ee523a2206206994597C13D831ec7@1/transfer',
    );
  });

  it("has one code on TRON, with the address only", async () => {
    const page = await inScene("awaiting");
    expect(page.match(/role="img"/g)).to.have.length(1);
    expect(page).not.to.contain('id="wallet"');
    const [svg = ""] = /<svg xmlns.*?<\/svg>/s.exec(page) ?? [];
    expect(read(svg)).to.equal(address);
  });

  it("shows the progress of the confirmations", async () => {
    const page = await inScene("confirming");
    expect(page).to.contain('<progress value="2" max="19"');
    expect(textOf(page)).to.contain("Confirmations: 2 of 19");
    expect(textOf(page)).to.contain("about 1 minute");
  });

  it("says what is paid for, and whom to ask, in every state", async () => {
    for (const scene of scenes) {
      lab = await openLab("tron");
      scene.set(lab, "tron");
      lab.world.website = "https://www.xn--cafe-zrich-w8a.example/shop?a=1";
      lab.world.contactEmail = "hi?&cc=evil@cafe.example";
      lab.change({ description: "Two coffees,\nwith <milk>", externalId: "R-1007" });
      const page = await html();
      const text = textOf(page);
      expect(text, scene.name).to.contain("Two coffees, with <milk>").and.to.contain("R-1007");
      expect(text).to.contain("Questions about this payment?");
      expect(text).to.contain("Contact Café Zürich and tell them this reference: P7K2-9QXD");
      expect(text, "the host without letters that look alike").to.contain(
        "xn--cafe-zrich-w8a.example",
      );
      expect(page).to.contain('href="https://www.xn--cafe-zrich-w8a.example/shop?a=1"');
      expect(page).to.contain(
        'href="mailto:hi%3F%26cc%3Devil@cafe.example?subject=Payment%20P7K2-9QXD"',
      );
      if (scene !== scenes.at(-1)) await lab.close();
    }
  });

  it("says in its own sentence how to reach the merchant, with the reference, where the payer may have to", async () => {
    const named =
      "ontact Café Zürich ( hello@cafe.example ) and tell them this reference: P7K2-9QXD";
    for (const [name, sentence] of [
      ["expired unpaid", named],
      ["canceled", named],
      ["in review", named],
      ["reverted", named],
    ] as const) {
      lab = await openLab("tron");
      scenes.find((scene) => scene.name === name)?.set(lab, "tron");
      lab.world.website = "https://cafe.example/";
      lab.world.contactEmail = "hello@cafe.example";
      lab.change({});
      const [state = ""] = /<section class="state.*?<\/section>/s.exec(await html()) ?? [];
      expect(textOf(state), name).to.contain(sentence);
      expect(state).to.contain('href="mailto:hello@cafe.example?subject=Payment%20P7K2-9QXD"');
      lab.world.contactEmail = null;
      lab.change({});
      expect(textOf(await html()), name).to.contain("ontact Café Zürich ( cafe.example ) and tell");
      lab.world.website = "javascript:alert(1)";
      lab.change({});
      expect(textOf(await html()), name).to.contain("ontact Café Zürich and tell them");
      if (name !== "reverted") await lab.close();
    }
  });

  it("says what became of the transaction that the payer entered last, above the amount", async () => {
    lab = await openLab("tron");
    for (const [result, said] of [
      ["looking", "within an hour, this page will say so. Please don't pay again."],
      ["unknown", "with the one in your wallet or exchange. Please don't pay again."],
      ["given_up", "We can't find your transaction We looked for this transaction for an hour"],
      [
        "other_address",
        "Did you pay with this one? Contact Café Zürich and tell them this reference",
      ],
      ["token_disabled", "Contact Café Zürich and tell them this reference: P7K2-9QXD ."],
      [
        "failed",
        "Your transaction failed The transaction that you entered failed on the network. No",
      ],
    ] as const) {
      lab.world.claims = [{ transactionHash: aHash("b"), result }];
      lab.change({});
      const [above = ""] = (await html()).split('id="amount"');
      expect(textOf(above), result).to.contain(said).and.not.to.contain("Already sent it?");
    }
    // In the list of what the payer entered, an unknown transaction is one that is looked for, while it is.
    const listed = async (result: "looking" | "unknown") => {
      lab.world.claims = [{ transactionHash: aHash("b"), result }];
      lab.change({});
      const [, ...entries] = (await html()).split(aHash("b"));
      return textOf(entries.at(-1) ?? "");
    };
    expect(await listed("unknown")).to.equal(await listed("looking"));
    lab.world.claims = [];
    lab.change({});
    expect(textOf(await html())).to.contain("Already sent it? Please don't send it twice");
  });

  it("is an ordinary page in every state after its network was removed from the table, and asks for nothing", async () => {
    for (const scene of scenes) {
      lab = await openLab("tron");
      scene.set(lab, "tron");
      lab.change({ network: "retired" });
      const answer = await fetch(lab.page);
      const text = textOf(await answer.text());
      expect(answer.status, scene.name).to.equal(200);
      expect(text, scene.name).to.contain("Contact Café Zürich").and.not.to.contain("()");
      expect(text, scene.name).not.to.contain("Amount to pay");
      if (scene.state === "awaiting") {
        expect(text)
          .to.contain(
            "You can't pay this way right now Please don't send USDT on retired: Café Zürich",
          )
          .and.to.contain(
            "Already sent it? It isn't lost: it goes to Café Zürich's wallet. Contact",
          )
          .and.to.contain("Not paid yet? Ask Café Zürich for another way to pay.");
      }
      if (scene !== scenes.at(-1)) await lab.close();
    }
  });

  it("never links a merchant's site to a script", async () => {
    lab = await openLab("tron");
    lab.world.website = "javascript:alert(1)";
    expect(await html()).not.to.contain("javascript:");
  });

  it("says first what concerns a payer who has already sent, when it has expired", async () => {
    const text = textOf(await inScene("expired unpaid"));
    expect(text.indexOf("Already sent it? Please don't send it again"))
      .to.be.greaterThan(0)
      .and.lessThan(text.indexOf("Not sent yet?"));
  });

  it("shows the deadline only where it concerns the payer", async () => {
    for (const scene of scenes) {
      const text = textOf(await inScene(scene.name));
      const isShown = / (?:Time to pay ended|Pay by) \d/.test(text);
      expect(isShown, scene.name).to.equal(withDeadline.includes(scene.name));
      if (scene !== scenes.at(-1)) await lab.close();
    }
  });

  it("tells an open invoice's payer that his payment was late as soon as it is known", async () => {
    lab = await openLab("tron");
    lab.world.payments = [aPayment({ status: "review", blockTime: startOfTime + 2 * hour })];
    lab.change({});
    expect(await html()).to.contain('data-state="late_review"');
  });

  it("says how an exchange shows the amount that arrives, beside the amount", async () => {
    const page = await inScene("awaiting");
    const [beside = ""] = page.split('id="address"');
    expect(textOf(beside)).to.contain(
      "Exactly 25.0001 USDT must arrive. If your exchange deducts a fee from the amount, add",
    );
  });

  it("has a word for each state of the fold of its code", async () => {
    const [summary = ""] =
      /<summary><span class="closed">.*<\/summary>/.exec(await inScene("awaiting")) ?? [];
    expect(textOf(summary)).to.contain("Show the QR code").and.to.contain("Hide the QR code");
  });

  it("explains extra digits only where they tell payments apart", async () => {
    lab = await openLab("tron");
    lab.change({ isAddressShared: false });
    expect(textOf(await html())).not.to.contain("last digits");
    lab.change({ isAddressShared: true, remaining: inUsdt("25.00") });
    expect(textOf(await html())).not.to.contain("last digits");
  });

  it("shows a receipt with every transaction that counts, linked to the explorer", async () => {
    const page = await inScene("paid");
    expect(textOf(page)).to.contain("Receipt").and.to.contain("Order total");
    expect(textOf(page), "nothing is due any more").not.to.contain("Amount requested");
    for (const digit of ["a", "b"]) {
      expect(page).to.contain(`href="https://tronscan.org/#/transaction/${aHash(digit)}"`);
    }
    for (const digit of ["c", "d"]) expect(page).not.to.contain(aHash(digit));
  });

  it("states the excess and the missing amount to the last unit", async () => {
    expect(textOf(await inScene("overpaid"))).to.contain(
      "You paid 30.00 USDT Order total 25.0001 USDT Too much 4.9999 USDT",
    );
    // The rest of a payment was asked for with a surcharge: the sums agree with what was asked for.
    lab.change({ asked: inUsdt("25.0003") });
    expect(textOf(await html())).to.contain("Order total 25.0003 USDT Too much 4.9997 USDT");
    await lab.close();
    const partly = textOf(await inScene("partly paid"));
    expect(partly).to.contain("Café Zürich received 10.00 USDT of 25.0001");
    expect(partly).to.contain("Already sent the rest? Please don't send it twice");
    await lab.close();
    expect(textOf(await inScene("expired partly paid"))).to.contain(
      "Café Zürich received 10.00 USDT of 25.0001 USDT. The time to pay is over, so",
    );
  });

  it("has one instruction about money that is not needed: to ask for its refund here", async () => {
    for (const [name, withoutForm, button] of [
      ["overpaid", "To get 4.9999 USDT back, contact Café Zürich", "Ask for 4.9999 USDT back"],
      ["expired partly paid", "about the 10.00 USDT", "Ask for 10.00 USDT back"],
      ["canceled", "contact Café Zürich", "Ask for 25.0001 USDT back"],
    ] as const) {
      lab = await openLab("tron");
      scenes.find((scene) => scene.name === name)?.set(lab, "tron");
      if (name === "canceled") lab.world.payments = [aPayment({ status: "rejected" })];
      const [payment] = lab.world.payments;
      if (payment === undefined) throw new Error("nothing was paid");
      for (const refunded of [0n, payment.amount]) {
        lab.world.payments = [{ ...payment, refunded }];
        lab.change({});
        const page = await html();
        const [state = ""] = /<section class="state.*?<\/section>/s.exec(page) ?? [];
        const text = textOf(state);
        expect(text.includes(button), `${name}, the form`).to.equal(refunded === 0n);
        expect(
          text.includes("Press the button and enter an address of your own wallet"),
          name,
        ).to.equal(refunded === 0n);
        expect(text.includes(withoutForm), `${name}, the merchant`).to.equal(refunded > 0n);
        if (name === "canceled") {
          expect(
            text.includes("Café Zürich received 25.0001 USDT."),
            "the arrived amount",
          ).to.equal(refunded === 0n);
          expect(page.includes('id="hash-form"'), "nothing is missing").to.equal(refunded > 0n);
        }
      }
      if (name !== "canceled") await lab.close();
    }
  });

  it("says once a refund is requested how it goes on, and whom to ask if it does not", async () => {
    lab = await openLab("tron");
    scenes.find(({ name }) => name === "overpaid")?.set(lab, "tron");
    const amount = inUsdt("4.9999").units;
    lab.world.payments = lab.world.payments.map((each) => ({ ...each, refundRequested: amount }));
    lab.world.refunds = [aRefund({ amount })];
    lab.change({});
    const text = textOf(await html());
    expect(text).to.contain("A refund of 4.9999 USDT was requested. Café Zürich sends it by hand");
    expect(text).to.contain("Nothing after a few days? Contact Café Zürich and tell them");
    expect(text).not.to.contain("Ask for 4.9999 USDT back").and.not.to.contain("To get 4.9999");
  });

  it("asks for an address on the network and for the token of what it offers to send back", async () => {
    lab = await openLab("tron");
    scenes.find(({ name }) => name === "overpaid")?.set(lab, "tron");
    const usdc = { token: "USDC", network: "ethereum", amount: inUsdt("7.00").units } as const;
    const spare = { id: "pay_01jd7v0000000000000000000b", status: "rejected" } as const;
    lab.world.payments = [aPayment(), aPayment({ ...usdc, ...spare, transactionHash: aHash("b") })];
    lab.change({ received: inUsdt("25.0001"), status: "paid", paidAt: startOfTime });
    const text = textOf(await html());
    expect(text).to.contain("Ask for 7.00 USDC back");
    expect(text).to.contain("Your own address on Ethereum (ERC-20)");
    expect(text).to.contain("deposit address for USDC on Ethereum (ERC-20).");
    expect(text).not.to.contain("address on TRON");
  });

  it("no longer speaks of too much once the excess was sent back", async () => {
    for (const [name, headline] of [
      ["overpaid", "Paid"],
      ["paid late", "Paid and accepted"],
    ] as const) {
      lab = await openLab("tron");
      scenes.find((scene) => scene.name === name)?.set(lab, "tron");
      const amount = inUsdt("4.9999").units;
      const payment = { amount: inUsdt("30.00").units, refunded: amount };
      lab.world.payments = lab.world.payments.map((each) => ({ ...each, ...payment }));
      lab.world.refunds = [aRefund({ amount, status: "confirmed" })];
      lab.change({ received: inUsdt("30.00") });
      const page = await html();
      expect(page).to.contain(`<h1>${headline}</h1>`).and.not.to.contain('class="sums"');
      expect(page).to.match(/class="total"><bdi[^>]*>25\.0001 USDT</);
      expect(textOf(page)).to.contain(": refunded.").and.not.to.contain("To get 4.9999");
      if (name === "overpaid") await lab.close();
    }
  });

  it("says that the money was sent back, and nothing of a payment that is missing", async () => {
    const amount = inUsdt("12.50").units;
    for (const [status, headline] of [
      ["sent", "Your refund is on its way"],
      ["confirmed", "Your money was sent back"],
    ] as const) {
      lab = await openLab("tron");
      scenes.find(({ name }) => name === "expired unpaid")?.set(lab, "tron");
      lab.world.payments = [aPayment({ status: "rejected", amount, isSpare: false })];
      lab.world.refunds = [aRefund({ status, amount })];
      lab.change({});
      const page = await html();
      expect(page).to.contain(`<h1>${headline}</h1>`);
      expect(textOf(page)).to.contain("Café Zürich has sent 12.50 USDT back.");
      expect(textOf(page)).not.to.contain("Not sent yet?").and.not.to.contain("Already sent it?");
      // Another one waits for the merchant: the page says what comes.
      lab.world.refunds = [aRefund({ amount }), ...lab.world.refunds];
      lab.change({});
      const asked = textOf(await html());
      expect(asked).not.to.contain(headline).and.not.to.contain("Not sent yet?");
      expect(asked).to.contain("A refund of 12.50 USDT was requested.");
      if (status === "sent") await lab.close();
    }
  });

  it("does not say that all money was sent back while other money is owed", async () => {
    lab = await openLab("tron");
    scenes.find(({ name }) => name === "expired unpaid")?.set(lab, "tron");
    const amount = inUsdt("12.50").units;
    const returned = aPayment({ status: "rejected", amount, refunded: amount, isSpare: false });
    const other = { id: "pay_01jd7v0000000000000000000b", transactionHash: aHash("b") } as const;
    lab.world.payments = [
      returned,
      { ...returned, ...other, refunded: 0n, blockHeight: 900_000_000 },
    ];
    lab.world.refunds = [aRefund({ status: "confirmed", amount })];
    lab.change({ owed: inUsdt("12.50") });
    const text = textOf(await html());
    expect(text).to.contain("You can ask for a refund here in some minutes");
    expect(text).not.to.contain("Your money was sent back").and.not.to.contain("new link");
    // The payer can ask for the second one while the first is on its way.
    lab.world.payments = [returned, { ...returned, ...other, refunded: 0n, isSpare: true }];
    lab.world.refunds = [aRefund({ paymentId: returned.id, status: "sent", amount })];
    lab.change({});
    const both = textOf(await html());
    expect(both).to.contain("Press the button and enter an address");
    expect(both).not.to.contain("Your refund is on its way");
    lab.world.refunds = [aRefund({ status: "confirmed", amount })];
    // Nothing of the second payment is left either.
    lab.world.payments = [returned];
    lab.change({ owed: inUsdt("0.00") });
    expect(textOf(await html())).to.contain("Your money was sent back");
  });

  it("goes on about the transaction that is looked for while a refund is under way", async () => {
    lab = await openLab("tron");
    scenes.find(({ name }) => name === "expired unpaid")?.set(lab, "tron");
    lab.world.claims = [{ transactionHash: aHash("c"), result: "looking" }];
    const looks = "Please don't pay again. You can close this page and come back.";
    for (const status of ["requested", "sent", "confirmed"] as const) {
      lab.world.refunds = [aRefund({ status })];
      lab.change({});
      const text = textOf(await html());
      expect(text, status).to.contain("Looking for your transaction").and.to.contain(looks);
      expect(text.includes("was requested."), status).to.equal(status === "requested");
    }
  });

  it("says that the payment was moved to another invoice, and asks nobody to wait for it", async () => {
    for (const [status, name] of [
      ["expired", "expired unpaid"],
      ["canceled", "canceled"],
    ] as const) {
      lab = await openLab("tron");
      scenes.find((scene) => scene.name === name)?.set(lab, "tron");
      lab.world.payments = [aPayment({ status: "rejected", isSpare: false, isMoved: true })];
      lab.change({ status });
      const text = textOf(await html());
      expect(text).to.contain(
        "Café Zürich has moved the payment that arrived here to another invoice.",
      );
      expect(text).to.contain("for its link.");
      expect(text).not.to.contain("Already sent it?").and.not.to.contain("new link");
      if (status === "expired") await lab.close();
    }
  });

  it("says how much a late payment was too high, and whom to ask for it", async () => {
    lab = await openLab("tron");
    scenes.find(({ name }) => name === "paid late")?.set(lab, "tron");
    lab.change({ received: inUsdt("30.00") });
    const text = textOf(await html());
    expect(text).to.contain("Too much 4.9999 USDT");
    expect(text).to.contain("To get 4.9999 USDT back, contact Café Zürich");
    expect(text).not.to.contain("You don't have to do anything else");
  });

  it("says when a payment was reversed, and when one awaits the merchant", async () => {
    lab = await openLab("tron");
    lab.change({ exception: "reverted" });
    lab.world.payments = [aPayment({ status: "review" })];
    const text = textOf(await html());
    expect(text).to.contain("the network didn't keep a payment that was shown here before");
    expect(text).to.contain("Café Zürich will accept your payment or refund it.");
    expect(text, "its hash is not the payer's before").not.to.contain(aHash("a"));
    expect(text, "asks for nothing meanwhile").not.to.contain("Amount to pay");
  });

  it("says why the merchant decides, where the payer's own amount shows it", async () => {
    lab = await openLab("tron");
    const other = "Café Zürich received 24.50 USDT instead of 25.0001 USDT.";
    const arrived = (amount: string) =>
      `Café Zürich received ${amount} USDT. Payments like this one are checked by hand.`;
    const entered = "We found it with the transaction ID that you entered";
    const review = { status: "review", rule: "submitted_hash" } as const;
    const low = aPayment({ ...review, amount: inUsdt("24.50").units });
    for (const [said, unsaid, payments, changes] of [
      [other, entered, [low], {}],
      [arrived("25.0001"), "instead of", [aPayment(review)], {}],
      // An address of its own takes every amount, and another network has its own.
      [arrived("24.50"), "instead of", [low], { isAddressShared: false }],
      [
        arrived("24.50"),
        "instead of",
        [{ ...low, network: "ethereum" }],
        { isAddressShared: true },
      ],
    ] as const) {
      lab.world.payments = [...payments];
      lab.change(changes);
      const text = textOf(await html());
      expect(text).to.contain(said).and.not.to.contain(unsaid);
      const session = await lab.get(new URL(lab.page).pathname.replace("/pay/", "/v1/checkout/"));
      const { notices } = (await session.json()) as { notices: string[] };
      expect(notices).to.deep.equal(said === other ? ["other_amount"] : []);
    }
    // The rest of a part that counts, in review.
    lab.world.payments = [aPayment({ ...review, amount: inUsdt("15.0001").units })];
    lab.change({ received: inUsdt("10.00"), remaining: inUsdt("15.0001"), network: "tron" });
    expect(textOf(await html()))
      .to.contain(arrived("25.0001"))
      .and.not.to.contain(entered);
    lab.world.claims = [{ transactionHash: aHash("a"), result: "in_review" }];
    lab.change({});
    expect(textOf(await html())).to.contain(entered);
    lab.change({ received: inUsdt("9.50"), remaining: inUsdt("15.5001") });
    expect(textOf(await html())).to.contain("Café Zürich received 24.5001 USDT instead");
  });

  it("folds the request to pay wherever paying at once could be paying twice, and only there", async () => {
    const partly = scenes.find(({ name }) => name === "partly paid");
    const claimed = (result: ClaimResult) => (): void => {
      lab.world.claims = [{ transactionHash: aHash("b"), result }];
    };
    const reverted = (): void => {
      lab.world.payments = [...lab.world.payments, aPayment({ status: "reverted" })];
      lab.change({ exception: "reverted" });
    };
    const cases: readonly (readonly [string, boolean, ...(() => void)[]])[] = [
      ["Waiting for your payment", false],
      ["Waiting for your payment", false, claimed("in_review")],
      ["Part of your payment has arrived", false, () => partly?.set(lab, "tron")],
      ["Looking for your transaction", true, claimed("looking")],
      ["Looking for your transaction", true, () => partly?.set(lab, "tron"), claimed("unknown")],
      ["Your transaction failed", true, claimed("failed")],
      ["We haven't found your payment yet", true, claimed("other_address")],
      ["Check your wallet before you pay again", true, reverted],
      ["Part of your payment has arrived", true, () => partly?.set(lab, "tron"), reverted],
      ["We can't check the network right now", true, () => (lab.world.at += 20 * minute)],
    ];
    for (const [headline, isFolded, ...steps] of cases) {
      lab = await openLab("tron");
      for (const step of steps) step();
      lab.change({});
      const page = await html();
      expect(unescape(page)).to.contain(`<h1>${headline}</h1>`);
      const start = isFolded ? '<div id="payment">' : '<section class="card payment" id="payment"';
      expect(page, headline).to.contain(start).and.to.contain('id="amount"');
      const fold = '<details class="card">\n<summary>Amount and address to pay</summary>';
      expect(page.includes(fold), headline).to.equal(isFolded);
      const title = isFolded ? `<title>${headline} · ` : "<title>Pay ";
      expect(unescape(page), headline).to.contain(title);
      if (headline !== cases.at(-1)?.[0]) await lab.close();
    }
  });

  it("does not say to send the rest at once, or that a refused transaction can still appear", async () => {
    await inScene("partly paid");
    lab.world.payments = [...lab.world.payments, aPayment({ status: "reverted" })];
    lab.change({ exception: "reverted" });
    const partly = textOf(await html());
    expect(partly).to.contain(
      "Café Zürich received 10.00 USDT. Another payment that we had seen is no longer",
    );
    expect(partly).not.to.contain("Send the remaining");
    await lab.close();
    await inScene("expired unpaid");
    for (const result of ["too_early", "too_late"] as const) {
      lab.world.claims = [{ transactionHash: aHash("b"), result }];
      lab.change({});
      const over = textOf(await html());
      expect(over)
        .to.contain("tell them this reference: P7K2-9QXD")
        .and.not.to.contain("still appear");
    }
    lab.world.claims = [{ transactionHash: aHash("b"), result: "looking" }];
    lab.change({});
    expect(unescape(await html())).to.contain("<h1>Looking for your transaction</h1>");
    await lab.close();
    await inScene("confirming");
    lab.world.at += 20 * minute;
    lab.change({});
    expect(textOf(await html()))
      .to.contain("We can't reach TRON (TRC-20)")
      .and.not.to.contain("which takes");
  });

  it("says when the network was last read, while it cannot be", async () => {
    for (const name of ["cannot check now", "cannot check, and the time is over"]) {
      const page = await inScene(name);
      expect(page).to.contain(
        'Last checked: <time datetime="2026-11-21T09:30:00.000Z" data-local>',
      );
      lab.world.networkState = null;
      lab.change({});
      expect(await html())
        .to.contain('data-state="cannot_check"')
        .and.not.to.contain("Last checked");
      await lab.close();
    }
    lab = await openLab("tron");
    lab.world.networkState = disabled(lab.world.at);
    lab.change({});
    expect(await html())
      .to.contain('data-state="cannot_check"')
      .and.not.to.contain("Last checked");
  });

  it("asks for nothing while a payment that left the chain may return, and asks again once it cannot", async () => {
    lab = await openLab("tron");
    const gone = aPayment({ status: "reverted", isExpectedBack: true });
    lab.world.payments = [gone];
    const patience = gone.blockTime + 10 * minute;
    const cases = [
      { at: patience - 3_000, cursorHeight: 949, state: "reverted" },
      { at: patience - 1, cursorHeight: 950, state: "reverted" },
      { at: patience, cursorHeight: 950, state: "awaiting" },
      { at: patience + 5_000, cursorHeight: 949, state: "reverted" },
      { at: patience + 15_000, cursorHeight: 950, state: "awaiting" },
    ];
    for (const { at, cursorHeight, state } of cases) {
      lab.change({ exception: "reverted" });
      lab.world.at = at;
      lab.world.networkState = { ...aState("tron", at), cursorHeight };
      const page = await html();
      expect(page).to.contain(`data-state="${state}"`);
      expect(page.includes('id="amount"'), "asks").to.equal(state === "awaiting");
      expect(page.includes(aHash("a")), "shows the transaction").to.equal(state === "reverted");
    }
    expect(textOf(await html())).to.contain(
      "A payment that we had seen is no longer on the network. Your money isn't lost: look in",
    );
  });

  for (const [what, payment] of [
    ["will not count", aPayment({ status: "reverted", isExpectedBack: false })],
    ["was rejected since", aPayment({ status: "rejected" })],
    ["has returned", aPayment({ status: "confirming" })],
  ] as const) {
    it(`does not wait for a payment that ${what}`, async () => {
      lab = await openLab("tron");
      lab.world.payments = [payment];
      lab.change({ exception: payment.status === "reverted" ? "reverted" : "none" });
      expect(await html()).to.contain('data-state="awaiting"');
    });
  }

  it("waits for a payment that left the chain although the network cannot be read, or the deadline has passed", async () => {
    lab = await openLab("tron");
    lab.world.payments = [aPayment({ status: "reverted", isExpectedBack: true })];
    lab.world.networkState = null;
    lab.change({ exception: "reverted" });
    expect(await html()).to.contain('data-state="reverted"');
    lab.world.at += 2 * hour;
    expect(await html()).to.contain('data-state="reverted"');
    lab.change({ status: "expired" });
    expect(await html()).to.contain('data-state="reverted"');
    // The other payments are enough without it.
    lab.change({ status: "paid", paidAt: startOfTime + minute });
    expect(await html()).to.contain('data-state="paid"');
  });

  it("waits until the minutes after the block have been read, however late that is", async () => {
    lab = await openLab("tron");
    const gone = aPayment({ status: "reverted", isExpectedBack: true });
    lab.world.payments = [gone];
    lab.change({ exception: "reverted" });
    const at = gone.blockTime + 30 * minute;
    lab.world.at = at;
    const tip = { tipTime: gone.blockTime + minute, cursorHeight: gone.blockHeight + 1 };
    lab.world.networkState = { ...aState("tron", at), ...tip };
    expect(await html()).to.contain('data-state="reverted"');
    lab.world.at = at + minute;
    lab.world.networkState = { ...aState("tron", lab.world.at), cursorHeight: tip.cursorHeight };
    expect(await html()).to.contain('data-state="awaiting"');
  });

  for (const [what, close] of [
    ["the token is disabled", ({ world }: Lab) => (world.networkState = disabled(world.at))],
    ["nobody reads the network", ({ world }: Lab) => world.enabled.delete("tron")],
  ] as const) {
    it(`asks for nothing while ${what}`, async () => {
      lab = await openLab("tron");
      close(lab);
      const page = await html();
      expect(page).to.contain('data-state="cannot_check"');
      expect(page).not.to.contain('id="amount"');
      expect(textOf(page)).to.contain("You can't pay this way right now");
      expect(textOf(page)).to.contain("Please don't send USDT on");
      expect(textOf(page)).not.to.contain("You can still pay");
    });
  }

  it("says that a submitted transaction failed only while no payment was found", async () => {
    lab = await openLab("tron");
    lab.world.claims = [{ transactionHash: aHash("b"), result: "failed" }];
    const said = "No USDT was sent: the money is still with you or your exchange.";
    expect(textOf(await html())).to.contain(said);
    lab.world.at += minute;
    lab.world.networkState = aState("tron", lab.world.at);
    lab.world.payments = [aPayment({ status: "reverted", isExpectedBack: true })];
    lab.change({ exception: "reverted" });
    expect(textOf(await html())).not.to.contain(said);
  });

  it("cannot check if a network has no new block or the watcher has stopped, and can if blocks have old times", async () => {
    lab = await openLab("tron");
    const state = lab.world.networkState;
    const at = startOfTime + 30 * minute;
    const cases = [
      { tipSeenAt: at - 59_000, scannedAt: at, isLagging: false },
      { tipSeenAt: at - 2 * minute, scannedAt: at, isLagging: true },
      { tipSeenAt: at, scannedAt: at - 2 * minute, isLagging: true },
      { tipTime: at - 30 * minute, tipSeenAt: at, scannedAt: at, isLagging: false },
    ];
    for (const [place, { isLagging, ...seen }] of cases.entries()) {
      lab.world.at = at + place;
      lab.world.networkState = state === null ? null : { ...state, ...seen };
      lab.change({});
      const expected = isLagging ? "cannot_check" : "awaiting";
      expect(await html()).to.contain(`data-state="${expected}"`);
    }
    lab.world.networkState = null;
    lab.change({});
    expect(await html()).to.contain('data-state="cannot_check"');
  });

  it("waits for blocks on the test network as long as its watcher polls", async () => {
    lab = await openLab("sandbox");
    const state = lab.world.networkState;
    lab.world.at = startOfTime + 30 * minute;
    lab.world.networkState = state === null ? null : { ...state, scannedAt: lab.world.at };
    expect(await html()).to.contain('data-state="awaiting"');
  });

  for (const name of hostileNames) {
    it(`shows a merchant called ${name} literally`, async () => {
      lab = await openLab("tron");
      const plain = await html();
      lab.world.merchantName = name;
      lab.change({ redirectUrl: "https://shop.example/" });
      const page = await html();
      const back = /<a [^>]*rel="noopener noreferrer">(Back to [^<]*)<\/a>/.exec(page)?.[1] ?? "";
      expect(unescape(back)).to.equal(`Back to ${name}`);
      expect(unescape(/<bdi class="name">([^<]*)<\/bdi>/.exec(page)?.[1] ?? "")).to.equal(name);
      const withoutBack = page.replace(/<a [^>]*rel="noopener noreferrer">[^<]*<\/a>/, "");
      expect(tagsOf(withoutBack)).to.deep.equal(tagsOf(plain));
    });
  }

  it("links back to the shop, and never to a script", async () => {
    lab = await openLab("tron");
    lab.change({ redirectUrl: "https://shop.example/?a=1&b=2" });
    expect(await html()).to.contain(
      'href="https://shop.example/?a=1&amp;b=2" rel="noopener noreferrer">Back to Café Zürich</a>',
    );
    lab.change({ redirectUrl: "javascript:alert(1)" });
    const page = await html();
    expect(page).not.to.contain("javascript:");
    expect(page).not.to.contain("Back to");
  });

  it("reveals no private data of the merchant, in any state", async () => {
    for (const scene of scenes) {
      const page = await inScene(scene.name, "sandbox");
      for (const secret of [organizationId, "org_", "inv_", "xpub", "@example"]) {
        expect(page, `${scene.name} and ${secret}`).not.to.contain(secret);
      }
      if (scene !== scenes.at(-1)) await lab.close();
    }
  });

  it("is not indexed or cached, sends no referrer, and loads nothing from other hosts", async () => {
    lab = await openLab("tron");
    const answer = await fetch(lab.page);
    expect(answer.headers.get("x-robots-tag")).to.equal("noindex");
    expect(answer.headers.get("cache-control")).to.equal("no-store");
    expect(answer.headers.get("referrer-policy")).to.equal("no-referrer");
    expect(answer.headers.get("set-cookie")).to.equal(null);
    expect(answer.headers.get("content-security-policy")).to.contain("default-src 'none'");
    const page = await answer.text();
    expect(page).to.contain('<meta name="robots" content="noindex, nofollow">');
    expect(page).not.to.match(/http-equiv/i);
    expect(page).not.to.match(/<[a-z]+[^>]*\s(style|on[a-z]+)=/i);
    for (const [, source = ""] of page.matchAll(
      /<(?:script|link|img)[^>]*(?:src|href)="([^"]*)"/g,
    )) {
      expect(source).to.match(/^(\/pay\/assets\/|data:)/);
    }
  });

  it("names its static files by their content, so that they can be cached forever", async () => {
    lab = await openLab("tron");
    const page = await html();
    const files = Array.from(page.matchAll(/"(\/pay\/assets\/[^"]+)"/g), ([, file = ""]) => file);
    expect(files).to.have.length(2);
    for (const file of files) {
      const answer = await lab.get(file);
      expect(answer.status).to.equal(200);
      expect(answer.headers.get("cache-control")).to.contain("immutable");
      expect(answer.headers.get("content-type")).to.match(/^text\/(css|javascript)/);
    }
    for (const file of ["checkout.css", "..%2Flayout.eta", "checkout.0000000000000000.js"]) {
      expect((await lab.get(`/pay/assets/${file}`)).status, file).to.equal(404);
    }
  });

  it("weighs at most 40 KB compressed without the logo, 14 KB of them in scripts, in four requests, in every language", async () => {
    lab = await openLab("ethereum");
    lab.world.accentColor = "#7a1f5c";
    lab.world.logo = aPng(64, 64);
    const packed = (text: string) => gzipSync(text).length;
    for (const { lang } of catalogues) {
      const page = await (await fetch(`${lab.page}?lang=${lang}`)).text();
      const loaded = page.matchAll(/<(?:script|link|img)[^>]* (?:src|href)="(\/[^"]+)"/g);
      const files = Array.from(loaded, ([, file = ""]) => file);
      expect(1 + files.length, "requests").to.be.at.most(4);
      const weigh = async (kind: RegExp) => {
        const texts = files
          .filter((file) => kind.test(file))
          .map(async (file) => (await lab.get(file)).text());
        return (await Promise.all(texts)).reduce((total, text) => total + packed(text), 0);
      };
      expect(await weigh(/\.js$/), lang).to.be.within(1, 14_000);
      expect(packed(page) + (await weigh(/\.(js|css)$/)), lang).to.be.within(1, 40_000);
    }
  });

  it("builds its links from the configured base, not from the request", async () => {
    lab = await openLab("sandbox", { basePath: "/shop" });
    lab.world.logo = aPng(8, 8);
    const answer = await fetch(lab.page, { headers: { "X-Forwarded-Host": "evil.example" } });
    const page = await answer.text();
    expect(page).to.contain('<img class="sign" src="/shop/pay/assets/logo.');
    expect(page).to.contain('src="/shop/pay/assets/');
    expect(page).to.contain(`href="/shop/pay/${checkoutId}"`);
    expect(page).to.contain(`action="/shop/pay/${checkoutId}/sandbox"`);
    expect(page).to.contain(`data-session="/shop/v1/checkout/${checkoutId}"`);
    expect(page).not.to.contain("evil.example");
  });

  it("says in plain words that the payment cannot be found", async () => {
    lab = await openLab("tron");
    lab.world.invoice = anInvoice("tron", { checkoutId: checkoutId.replace("0", "1") });
    for (const id of [checkoutId, "chk_x", "%3Cscript%3E"]) {
      const answer = await lab.get(`/pay/${id}`);
      expect(answer.status, id).to.equal(404);
      expect(textOf(await answer.text())).to.contain("We can't find this payment link");
    }
  });

  it("tells payers who have paid not to pay again while the store is unavailable", async () => {
    lab = await openLab("tron");
    lab.world.fault = new StoreUnavailable("the disk is full");
    const answer = await fetch(lab.page);
    expect(answer.status).to.equal(503);
    const page = await answer.text();
    expect(textOf(page)).to.contain("Already paid? Please don't pay again");
    expect(page).to.contain(`href="/pay/${checkoutId}"`);
    expect(page).not.to.contain("disk");
  });

  it("stops asking for payment exactly at the deadline", async () => {
    lab = await openLab("tron");
    lab.world.at = startOfTime + hour - 1;
    lab.world.networkState = null;
    expect(await html()).to.contain('id="address"');
    lab.world.at = startOfTime + hour;
    const page = await html();
    expect(page).not.to.contain('id="address"');
    expect(page).to.contain("still waiting for the latest from TRON (TRC-20).");
  });
});

function tagsOf(html: string): string[] {
  return Array.from(html.matchAll(/<[^>]*>/g), ([tag]) => tag.replace(/="[^"]*"/g, '=""'));
}

/** The dark modules of a picture, read from its lines. */
function drawnModules(svg: string): string[] {
  expect(svg).to.contain('fill="#ffffff"');
  expect(svg).to.contain('stroke="#000000"');
  const size = Number(/viewBox="0 0 (\d+) /.exec(svg)?.[1]);
  const rows = Array.from({ length: size }, () => Array<string>(size).fill("0"));
  const path = /stroke="#000000" d="([^"]*)"/.exec(svg)?.[1] ?? "";
  let x = 0;
  let y = 0;
  for (const [, command, numbers = ""] of path.matchAll(/([Mmh])([^Mmh]*)/g)) {
    const [first = 0, second = 0] = numbers.trim().split(/[ ,]+/).map(Number);
    if (command === "M") [x, y] = [first, Math.floor(second)];
    else if (command === "m") x += first;
    else for (const end = x + first; x < end; x += 1) rows[y]?.splice(x, 1, "1");
  }
  return rows.map((row) => row.join(""));
}

/** Reads a code with its quiet zone, as a camera that sees each module as a few pixels. */
function read(svg: string): string {
  const rows = drawnModules(svg);
  for (const row of [...rows.slice(0, 4), ...rows.slice(-4)]) expect(row).not.to.contain("1");
  for (const row of rows) expect(row).to.match(/^0000.*0000$/);
  const scale = 4;
  const width = rows.length * scale;
  const data = new Uint8Array(width * width * 4);
  for (let place = 0; place < width * width; place += 1) {
    const row = rows[Math.floor(place / width / scale)] ?? "";
    const isDark = row[Math.floor((place % width) / scale)] === "1";
    data.set(isDark ? [0, 0, 0, 255] : [255, 255, 255, 255], place * 4);
  }
  return decodeQR({ width, height: width, data });
}
