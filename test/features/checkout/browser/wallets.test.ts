import { expect } from "chai";
import type { BrowserContextOptions, Page } from "playwright-core";
import { until } from "../../../support/until.ts";
import { describeInBrowser } from "../../../support/suites/describe-in-browser.ts";
import { aHash, inUsdt, openLab, type Lab, type LabNetwork } from "../lab.ts";
import {
  anotherWallet,
  evmWallet,
  payer,
  tronPayer,
  tronWallet,
  walletHash,
  type WalletFaults,
} from "./injected-wallets.ts";

const usdt = "0xdAC17F958D2ee523a2206206994597C13D831ec7";
const wanted = {
  from: payer,
  to: usdt,
  // transfer(0x5aAe…BeAed, 25000100)
  data: `0xa9059cbb${"5aaeb6053f3e94c9b9a09f33669435e7ef1beaed".padStart(64, "0")}${(25_000_100).toString(16).padStart(64, "0")}`,
  value: "0x0",
  chainId: "0x1",
};

/** Makes the page's long times short. */
const hurried = `{
  const real = setTimeout;
  const short = (ms) => (ms > 15_000 ? 150 : ms > 1_000 ? ms / 20 : ms);
  globalThis.setTimeout = (work, ms, ...rest) => real(work, short(ms), ...rest);
}`;

const excuse = "so we didn't ask it to send anything";
const before = /didn't ask (it|your wallet) to send anything/;

describeInBrowser("paying from a wallet in the browser", (browser) => {
  let lab: Lab;
  let opened: Page | undefined;
  let complaints: string[];

  afterEach(async () => {
    // A request that is being answered needs no answer any more.
    await opened?.unrouteAll({ behavior: "ignoreErrors" });
    await opened?.context().close();
    opened = undefined;
    await lab.close();
    expect(complaints).to.deep.equal([]);
  });

  async function open(
    network: LabNetwork,
    scripts: readonly string[],
    options: BrowserContextOptions = {},
  ): Promise<Page> {
    lab = await openLab(network);
    complaints = [];
    const context = await browser().newContext(options);
    const page = await context.newPage();
    opened = page;
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("console", (message) => {
      if (message.text().includes("Security Policy")) complaints.push(message.text());
    });
    for (const script of scripts) await page.addInitScript(script);
    await page.goto(lab.page);
    return page;
  }

  /** Gives the wallet these faults instead of its former ones, and taps. */
  async function tap(page: Page, faults: WalletFaults): Promise<void> {
    await page.evaluate(`wallet.reset(${JSON.stringify(faults)})`);
    await page.click("#wallet-buttons button");
  }

  async function asked(page: Page, method: string): Promise<unknown[]> {
    const all = await page.evaluate<{ method: string; params: unknown[] }[]>("wallet.asked");
    return all.filter((each) => each.method === method).map(({ params }) => params[0]);
  }

  async function expectSaid(page: Page, text: string | RegExp): Promise<void> {
    await page.waitForSelector("#wallet-buttons button:not([disabled])");
    const said = await page.textContent("#wallet-said");
    if (typeof text === "string") expect(said).to.contain(text);
    else expect(said).to.match(text);
    // The ordinary way still works.
    expect(await page.isVisible("#address")).to.equal(true);
    expect(await page.isVisible("#copy-amount")).to.equal(true);
  }

  it("is offered only where a wallet is there, by its own name as plain text", async () => {
    const page = await open("ethereum", []);
    await page.waitForSelector("#copy-amount:not([hidden])");
    expect(await page.isVisible("#wallets")).to.equal(false);
    await page.addInitScript(evmWallet({}, false));
    await page.reload();
    expect(await page.innerText("#wallet-buttons")).to.equal("Pay with your wallet");
    await page.addInitScript(evmWallet() + anotherWallet("Rabbit"));
    await page.reload();
    const names = await page.locator("#wallet-buttons button").allTextContents();
    expect(names).to.deep.equal([
      "Pay with \u2068Fox <b>wallet</b>\u2069",
      "Pay with \u2068Rabbit\u2069",
    ]);
  });

  it("asks once for exactly the transfer, submits its hash, and offers nothing more", async () => {
    const page = await open("ethereum", [evmWallet()]);
    await page.evaluate(
      `{ const button = document.querySelector("#wallet-buttons button"); button.click(); button.click(); }`,
    );
    await page.waitForSelector("text=Your wallet has sent the payment");
    await page.waitForSelector(`#wallets[data-data=""]`, { state: "attached" });
    expect(await asked(page, "eth_sendTransaction")).to.deep.equal([wanted]);
    expect(lab.world.submitted).to.deep.equal([walletHash.slice(2)]);
    for (const shown of ["#wallet-buttons button", "#address", "#copy-amount", "#code"]) {
      expect(await page.isVisible(shown), shown).to.equal(false);
    }
    await page.reload();
    await page.waitForSelector("text=Your wallet has sent the payment");
    expect(await page.isVisible("#address")).to.equal(false);
    // The network refused it, so it can be paid again.
    lab.world.claims = [{ transactionHash: walletHash.slice(2), result: "failed" }];
    lab.change({});
    await page.waitForSelector("text=Your transaction failed");
    expect(await page.isVisible("#wallet-buttons button")).to.equal(false);
    await page.click("#payment summary");
    await page.waitForSelector("#wallet-buttons button");
    expect(await page.isVisible("#address")).to.equal(true);
    expect(await page.isVisible("#wallet-said")).to.equal(false);
  });

  it("asks for the right network first, and for nothing else on a wrong one", async () => {
    const page = await open("ethereum", [evmWallet({ chainId: "0x38" })]);
    await page.click("#wallet-buttons button");
    await page.waitForSelector("text=Your wallet has sent the payment");
    expect(await asked(page, "wallet_switchEthereumChain")).to.deep.equal([{ chainId: "0x1" }]);
    expect(await asked(page, "eth_sendTransaction")).to.deep.equal([wanted]);
    // The page shows the claim, so that none comes after these are gone.
    await page.waitForSelector(`#wallets[data-data=""]`, { state: "attached" });
    lab.world.claims = [];
    await page.evaluate("sessionStorage.clear()");
    await page.reload();
    const wrong: [WalletFaults, string][] = [
      [{ switchesTo: "0x38" }, "isn't on Ethereum (ERC-20)"],
      [{ refuses: { wallet_switchEthereumChain: 4902 } }, "isn't on Ethereum (ERC-20)"],
      [{ refuses: { wallet_switchEthereumChain: 4001 } }, "You declined this in your wallet"],
    ];
    for (const [faults, text] of wrong) {
      await tap(page, { chainId: "0x38", ...faults });
      await expectSaid(page, text);
      expect(await asked(page, "eth_sendTransaction")).to.deep.equal([]);
    }
  });

  it("says why it asked for nothing, and leaves the ordinary way", async () => {
    const page = await open("ethereum", [hurried, evmWallet()]);
    const cases: [WalletFaults, string | RegExp][] = [
      [{ balance: 25_000_099 }, /has less than 25.0001 USDT/],
      [{ decimals: 18 }, /couldn't confirm that this is USDT on Ethereum/],
      [{ answers: { eth_call: "0x" } }, /couldn't confirm that this is USDT/],
      [{ refuses: { eth_requestAccounts: 4001 } }, "You declined this in your wallet"],
      [{ refuses: { eth_requestAccounts: -32002 } }, "reported a problem"],
      [{ hangs: "eth_requestAccounts" }, "isn't answering"],
      [{ hangs: "eth_chainId" }, "isn't answering"],
    ];
    for (const [faults, text] of cases) {
      await tap(page, faults);
      await expectSaid(page, text);
      expect(await asked(page, "eth_sendTransaction")).to.deep.equal([]);
    }
    await tap(page, { refuses: { eth_sendTransaction: 4001 } });
    await expectSaid(page, "so nothing was sent");
    await tap(page, { refuses: { eth_sendTransaction: -32000 } });
    await expectSaid(page, "reported a problem");
    expect(lab.world.submitted).to.deep.equal([]);
  });

  it("asks for nothing if the amount changed or cannot be read at the moment of the tap", async () => {
    const page = await open("ethereum", [hurried, evmWallet()]);
    let unreadable = /events$|\/v1\/checkout\//;
    await page.route(/\/chk_/, (route) =>
      unreadable.test(route.request().url()) ? route.abort() : route.continue(),
    );
    await page.click("#wallet-buttons button");
    await expectSaid(page, before);
    // Only the session can be read.
    unreadable = /\/pay\//;
    lab.change({ remaining: inUsdt("10.0001"), status: "partially_paid" });
    await page.click("#wallet-buttons button");
    await page.waitForSelector("text=This payment has just changed");
    unreadable = /events$/;
    await page.waitForSelector("#amount:has-text('10.0001')");
    expect(await asked(page, "eth_sendTransaction")).to.deep.equal([]);
    await page.click("#wallet-buttons button");
    await page.waitForSelector("text=Your wallet has sent the payment");
    const [sent] = (await asked(page, "eth_sendTransaction")) as { data: string }[];
    expect(BigInt(`0x${sent?.data.slice(-64) ?? ""}`)).to.equal(10_000_100n);
  });

  it("asks for nothing if the session names another chain, token or wallet for the same calldata", async () => {
    const page = await open("ethereum", [evmWallet()]);
    let changes: Record<string, string> = {};
    await page.route(/\/v1\/checkout\/chk_\w+$/, async (route) => {
      const response = await route.fetch();
      if (response.status() !== 200) return route.fulfill({ response });
      const session = (await response.json()) as { walletTransfer: object };
      const walletTransfer = { ...session.walletTransfer, ...changes };
      return route.fulfill({ response, json: { ...session, walletTransfer } });
    });
    for (const change of [
      { chainId: "0x38" },
      { tokenContract: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48" },
      { walletStandard: "tip-6963" },
    ]) {
      changes = change;
      await tap(page, {});
      await page.waitForSelector("text=This payment has just changed");
      await page.waitForSelector("#wallet-buttons button:not([disabled])");
      for (const method of ["eth_sendTransaction", "wallet_switchEthereumChain"]) {
        expect(await asked(page, method), JSON.stringify(change)).to.deep.equal([]);
      }
    }
    changes = {};
    await page.click("#wallet-buttons button");
    await page.waitForSelector("text=Your wallet has sent the payment");
    expect(await asked(page, "eth_sendTransaction")).to.deep.equal([wanted]);
  });

  it("asks no second time while a wallet that vanished may have sent the payment", async () => {
    const page = await open("ethereum", [hurried, evmWallet({ hangs: "eth_sendTransaction" })]);
    await page.click("#wallet-buttons button");
    await page.waitForSelector("text=Your wallet isn't answering");
    expect(await page.isDisabled("#wallet-buttons button")).to.equal(true);
    expect(await page.isVisible("#address")).to.equal(true);
  });

  it("hands over a hash that cannot be submitted, and tells nobody to pay again", async () => {
    const page = await open("ethereum", [hurried, evmWallet()]);
    lab.world.refusal = new Error("the disk is full");
    await page.click("#wallet-buttons button");
    await page.waitForSelector("text=We couldn't note its transaction");
    expect(await page.inputValue("#transaction-hash")).to.equal(walletHash);
    expect(await page.isVisible("#wallet-buttons button")).to.equal(false);
    lab.world.refusal = null;
    await page.reload();
    await page.waitForSelector(`#wallets[data-data=""]`, { state: "attached" });
    expect(lab.world.submitted).to.deep.equal([walletHash.slice(2)]);
  });

  it("offers no wallet while a submitted transaction is being looked for", async () => {
    const page = await open("ethereum", [evmWallet()]);
    await lab.submit(aHash("b"));
    await page.reload();
    await page.waitForSelector("#copy-amount:not([hidden])", { state: "attached" });
    expect(await page.isVisible("#wallet-buttons button")).to.equal(false);
    const session = (await (await lab.get(`/v1/checkout/${lab.page.slice(-36)}`)).json()) as {
      walletTransfer: unknown;
    };
    expect(session.walletTransfer).to.equal(null);
  });

  it("asks a wallet of TRON for exactly the transfer, on the right chain only", async () => {
    const page = await open("tron", [hurried, tronWallet()]);
    expect(await page.innerText("#wallet-buttons")).to.contain("TronLink");
    const cases: [WalletFaults, string | RegExp][] = [
      [{ chainId: "0x94a9059e", switchesTo: "0x94a9059e" }, "isn't on TRON (TRC-20)"],
      [{ balance: 1 }, `has less than 25.0001 USDT, ${excuse}`],
      [{ decimals: 18 }, "couldn't confirm that this is USDT on TRON"],
      [{ answers: { data: `a9059cbb${"0".repeat(128)}` } }, "couldn't confirm"],
      [{ refuses: { eth_requestAccounts: 4001 } }, "You declined this"],
      [{ refuses: { sign: 4001 } }, "You declined this"],
      [{ answers: { broadcast: { code: "BANDWITH_ERROR" } } }, "reported a problem"],
      [{ answers: { broadcast: { result: false } } }, "reported a problem"],
    ];
    for (const [faults, text] of cases) {
      await tap(page, faults);
      await expectSaid(page, text);
      if (faults.answers?.["broadcast"] !== undefined) continue;
      expect(await asked(page, "sendRawTransaction")).to.deep.equal([]);
    }
    await tap(page, { chainId: "0x94a9059e" });
    await page.waitForSelector("text=Your wallet has sent the payment");
    const all = await page.evaluate<{ method: string; params: unknown[] }[]>("wallet.asked");
    const built = all.filter(({ method }) => method === "triggerSmartContract");
    expect(built.map(({ params }) => params)).to.deep.equal([
      [
        "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
        "transfer(address,uint256)",
        { feeLimit: 100_000_000, callValue: 0 },
        [
          { type: "address", value: "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE" },
          { type: "uint256", value: "25000100" },
        ],
        tronPayer,
      ],
    ]);
    await page.waitForSelector(`#wallets[data-data=""]`, { state: "attached" });
    expect(lab.world.submitted).to.deep.equal(["5e".repeat(32)]);
  });

  it("signs a transaction of TRON only if it is the transfer and nothing else, whatever a node makes", async () => {
    const page = await open("tron", [hurried, tronWallet()]);
    const other = "a9059cbb".padEnd(136, "7");
    const forgeries = {
      "another call, the right one in its memo": `const { data, contract_address } = value;
        transaction.raw_data_hex = transaction.raw_data_hex.replace(data, ${JSON.stringify(other)})
          .replace("5aae01", "5259" + contract_address + data + "5aae01");`,
      "a memo": `transaction.raw_data_hex = transaction.raw_data_hex.replace("5aae01", "520141" + "5aae01");`,
      "a second contract": `const [contract] = /5aae01.{348}/.exec(transaction.raw_data_hex);
        transaction.raw_data_hex = transaction.raw_data_hex.replace(contract, contract + contract);`,
      "another type of contract": `transaction.raw_data_hex = transaction.raw_data_hex.replace("081f", "081e");`,
      "coins beside the call": `transaction.raw_data_hex = transaction.raw_data_hex.replace("5aae01", "5ab001")
        .replace("12a901", "12ab01").replace("1274", "1276").replace("2244", "18012244");`,
      "another owner": `transaction.raw_data_hex = transaction.raw_data_hex.replace(value.owner_address, "41".padEnd(42, "0"));`,
      "a higher fee": `transaction.raw_data_hex = transaction.raw_data_hex.replace("80c2d72f", "8084af5f");`,
      "a text with another call": `value.data = ${JSON.stringify(other)};`,
      "a text with two contracts": `raw_data.contract.push(raw_data.contract[0]);`,
      "a text with coins": `value.call_value = 1;`,
      "a text with a memo": `raw_data.data = "41";`,
      "a text with a higher fee": `raw_data.fee_limit *= 2;`,
      "a text with another type": `raw_data.contract[0].type = "TransferContract";`,
      "the digest of other bytes": `transaction.txID = "5e".repeat(32);`,
    };
    for (const [name, change] of Object.entries(forgeries)) {
      await page.evaluate(`wallet.reset({ forge: (transaction) => {
        const { raw_data } = transaction;
        const { value } = raw_data.contract[0].parameter;
        ${change}
      } })`);
      await page.click("#wallet-buttons button");
      await expectSaid(page, "couldn't confirm that this is USDT on TRON");
      expect(await asked(page, "sign"), name).to.deep.equal([]);
    }
  });

  it("submits a transaction of TRON whose sending may have worked, and offers nothing more", async () => {
    const cases: WalletFaults[] = [
      { refuses: { sendRawTransaction: 1 } },
      { hangs: "sendRawTransaction" },
      { answers: { broadcast: { code: "DUP_TRANSACTION_ERROR" } } },
      { answers: { broadcast: { result: false, code: "OTHER_ERROR" } } },
    ];
    const page = await open("tron", [hurried, tronWallet()]);
    for (const faults of cases) {
      await tap(page, faults);
      await page.waitForSelector("text=Your wallet has sent the payment");
      await page.waitForSelector(`#wallets[data-data=""]`, { state: "attached" });
      expect(await page.isVisible("#wallet-buttons button")).to.equal(false);
      expect(lab.world.submitted.splice(0)).to.deep.equal(["5e".repeat(32)]);
      lab.world.claims = [];
      await page.evaluate("sessionStorage.clear()");
      await page.reload();
    }
  });

  it("submits a transaction of TRON that the wallet was sending when the page was closed", async () => {
    // Its times are long, so that it is closed before it stops waiting for the wallet.
    const page = await open("tron", [tronWallet()]);
    await tap(page, { hangs: "sendRawTransaction" });
    // The page's policy allows no repeated evaluation inside of it.
    await until("a note", () => page.evaluate<number>("sessionStorage.length"), Boolean);
    await page.reload();
    await page.waitForSelector("text=Your wallet has sent the payment");
    await page.waitForSelector(`#wallets[data-data=""]`, { state: "attached" });
    expect(lab.world.submitted).to.deep.equal(["5e".repeat(32)]);
  });

  for (const [network, names] of [
    ["ethereum", ["MetaMask", "Trust Wallet", "Coinbase Wallet"]],
    ["tron", ["TronLink"]],
  ] as const) {
    it(`opens the same page in the browser of a wallet's app from a phone, on ${network}`, async () => {
      const page = await open(network, [], { hasTouch: true, isMobile: true });
      await page.click("#wallet-apps summary");
      const links = page.locator("#wallet-apps a");
      expect(await links.allTextContents()).to.deep.equal(names);
      const address = `pay.example/shop/pay/${lab.page.slice(-36)}`;
      for (const link of await links.all()) {
        expect(decodeURIComponent((await link.getAttribute("href")) ?? "")).to.contain(address);
      }
    });
  }
});
