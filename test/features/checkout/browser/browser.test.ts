import { expect } from "chai";
import { hour } from "../../../../src/kernel/clock.ts";
import { testWords } from "../../../../src/features/checkout/page/english-only.ts";
import type { BrowserContextOptions, Page } from "playwright-core";
import { describeInBrowser } from "../../../support/suites/describe-in-browser.ts";
import { aPayment, openLab, type Lab, type LabNetwork } from "../lab.ts";
import { type Scene, scenes } from "../scenes.ts";

const schemes = ["light", "dark"] as const;
const phone = { width: 390, height: 844 };
const narrow = { width: 320, height: 640 };

describeInBrowser("the page of a checkout in a browser", (browser) => {
  let lab: Lab;
  /** Console errors, and requests to other hosts. */
  let complaints: string[];
  let opened: Page | undefined;

  afterEach(close);

  async function close(): Promise<void> {
    if (opened === undefined) return;
    await opened.context().close();
    opened = undefined;
    await lab.close();
    expect(complaints).to.deep.equal([]);
  }

  async function open(
    network: LabNetwork,
    options: BrowserContextOptions = {},
    scene = "awaiting",
  ): Promise<Page> {
    await close();
    lab = await openLab(network);
    complaints = [];
    sceneNamed(scene).set(lab, network);
    const context = await browser().newContext({ viewport: phone, ...options });
    const page = await context.newPage();
    opened = page;
    page.on("console", (message) => {
      if (message.type() === "error") complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(lab.url) && !url.startsWith("data:")) complaints.push(url);
    });
    await page.goto(lab.page);
    return page;
  }

  function setScene(name: string, network: LabNetwork): void {
    sceneNamed(name).set(lab, network);
    lab.change({});
  }

  /** Stops the page's timers for good, also future ones: it learns of a change from its stream, or not at all. */
  async function stopTimers(page: Page): Promise<void> {
    await run(
      page,
      `(() => {
        for (let id = setTimeout(() => undefined); id > 0; id -= 1) clearTimeout(id);
        window.setTimeout = window.setInterval = () => 0;
      })()`,
    );
  }

  /** Changes the checkout, and waits until the page shows it. */
  async function changeTo(page: Page, name: string, network: LabNetwork): Promise<void> {
    setScene(name, network);
    await page.waitForSelector(`#checkout[data-state=${sceneNamed(name).state}]`);
  }

  it("is complete without scripts", async () => {
    const page = await open("tron", { javaScriptEnabled: false });
    expect(await page.textContent("#address")).to.equal("TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE");
    await page.click("#code summary");
    expect(await page.isVisible(".code svg")).to.equal(true);
    expect(await page.isVisible("#copy-address")).to.equal(false);
    setScene("paid", "tron");
    await page.click("a >> text=Check again");
    expect(await page.textContent("h1")).to.equal("Paid");
  });

  it("has a working test panel without scripts", async () => {
    const page = await open("sandbox", { javaScriptEnabled: false });
    lab.world.payments = [aPayment({ status: "rejected" })];
    for (const action of ["pay", "underpay", "overpay", "mine", "reorganize", "expire"]) {
      await page.click(`button[value="${action}"]`);
      expect(page.url()).to.equal(`${lab.page}?done=${action}`);
      expect(await page.isVisible('.ribbon[role="status"]:not([hidden])')).to.equal(true);
    }
    expect(await page.textContent('.ribbon[role="status"]:not([hidden])')).to.equal(
      testWords.expired,
    );
    expect(lab.world.pressed).to.have.length(6);
  });

  it("shows a payment automatically, announces it once, and keeps the payer's focus and input", async () => {
    const page = await open("sandbox");
    await page.click("#other-code summary");
    await page.focus("#copy-address");
    setScene("partly paid", "sandbox");
    await page.waitForSelector("text=Part of your payment has arrived");
    expect(await page.textContent("#amount")).to.equal("15.0001");
    expect(await page.textContent("#announcement")).to.equal("Part of your payment has arrived");
    expect(await run(page, "document.activeElement.id")).to.equal("copy-address");
    expect(await page.isVisible("#other-code figure")).to.equal(true);
    expect(await page.title()).to.equal("Pay 15.0001 USDT to Café Zürich");
    setScene("confirming", "sandbox");
    await page.waitForSelector("text=Confirmations: 2 of 3");
    setScene("paid", "sandbox");
    await page.waitForSelector("text=Receipt");
    expect(await page.textContent("#announcement")).to.equal("Paid");
  });

  for (const name of ["in review", "late and not accepted yet", "cannot check now"]) {
    it(`shows, when its server reports it, and without a timer of its own: ${name}`, async () => {
      const page = await open("tron");
      await page.waitForSelector("#time-left:not([hidden])");
      await stopTimers(page);
      await changeTo(page, name, "tron");
    });
  }

  it("keeps a hash being typed while the page changes, and the result of a submitted one", async () => {
    const page = await open("sandbox");
    await page.click("#hash-form summary");
    await page.fill("#transaction-hash", "0xabc");
    setScene("partly paid", "sandbox");
    await page.waitForSelector("text=Part of your payment has arrived");
    expect(await page.inputValue("#transaction-hash")).to.equal("0xabc");
    await page.click("#hash-form button");
    await page.waitForSelector("#hash-error");
    await page.fill("#transaction-hash", "a".repeat(64));
    await page.click("#hash-form button");
    await page.waitForSelector("text=looking for your transaction");
    setScene("confirming", "sandbox");
    await page.waitForSelector("text=Confirmations: 2 of 3");
    expect(await page.isVisible("text=looking for your transaction")).to.equal(true);
    expect(lab.world.submitted).to.deep.equal(["a".repeat(64)]);
  });

  it("changes only what differs: the rest of the page stays as it is, and nothing is polled", async () => {
    const page = await open("sandbox");
    await page.waitForSelector("#time-left:not([hidden])");
    let polls = 0;
    page.on("request", (request) => (polls += request.url().includes("/v1/checkout/") ? 1 : 0));
    await run(
      page,
      "(document.getElementById('address').own = 1, getSelection().selectAllChildren(document.getElementById('address')))",
    );
    await changeTo(page, "partly paid", "sandbox");
    expect(await run(page, "document.getElementById('address').own")).to.equal(1);
    expect(await run(page, "String(getSelection())")).to.equal(
      "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    );
    expect(polls, "one look after the change").to.equal(1);
  });

  it("shows a change when its server reports it, and without a timer of its own", async () => {
    const page = await open("sandbox");
    await page.waitForSelector("#time-left:not([hidden])");
    await stopTimers(page);
    await changeTo(page, "partly paid", "sandbox");
  });

  it("polls while the stream is refused", async () => {
    const page = await open("sandbox");
    await page.route("**/events", (route) => route.fulfill({ status: 429, body: "" }));
    await page.reload();
    await page.waitForSelector("#time-left:not([hidden])");
    setScene("paid", "sandbox");
    await page.waitForSelector("text=Receipt");
    complaints = complaints.filter((text) => !text.includes("429"));
  });

  it("accepts a hash without scripts", async () => {
    const page = await open("tron", { javaScriptEnabled: false });
    await page.click("#hash-form summary");
    await page.fill("#transaction-hash", "a".repeat(64));
    await page.press("#transaction-hash", "Enter");
    await page.waitForSelector("text=looking for your transaction");
    expect(lab.world.submitted).to.deep.equal(["a".repeat(64)]);
    // Nobody is invited to pay twice, and who must pay again can.
    expect(await page.isVisible("#amount")).to.equal(false);
    await page.click("#payment > details > summary");
    expect(await page.isVisible("#amount")).to.equal(true);
  });

  for (const javaScriptEnabled of [false, true]) {
    it(`shows the refusal of a hash with its field, which keeps it and the focus, ${javaScriptEnabled ? "with" : "without"} scripts`, async () => {
      const page = await open("tron", { javaScriptEnabled });
      await page.click("#hash-form summary");
      await page.fill("#transaction-hash", "3f5a");
      await page.click("#hash-form button");
      await page.waitForSelector("#hash-error");
      for (const shown of ["#hash-error", "#transaction-hash"]) {
        const { y = -1, height = 0 } = (await page.locator(shown).boundingBox()) ?? {};
        expect(y, shown).to.be.within(0, phone.height - height);
      }
      expect(await page.inputValue("#transaction-hash")).to.equal("3f5a");
      expect(await page.locator("#transaction-hash:focus").count()).to.equal(1);
      if (javaScriptEnabled) {
        // A change of the page keeps what was entered, and a reload sends nothing again.
        await changeTo(page, "partly paid", "tron");
        expect(await page.inputValue("#transaction-hash")).to.equal("3f5a");
        await page.reload();
        expect(page.url()).to.equal(`${lab.page}#transaction-hash`);
        expect(await page.locator("#transaction-hash:focus").count()).to.equal(1);
      } else {
        await page.fill("#transaction-hash", "ab".repeat(32));
        await page.click("#hash-form button");
        expect(page.url()).to.equal(`${lab.page}?hash=received#top`);
        expect(await run(page, "scrollY")).to.equal(0);
      }
    });
  }

  it("is up to date as soon as a phone wakes up, however long it slept", async () => {
    // A hidden page polls every 30 seconds; after waking it must not wait for that.
    const page = await open("tron");
    await page.waitForSelector("#time-left:not([hidden])");
    await run(page, "Object.defineProperty(document, 'hidden', { value: true, writable: true })");
    await run(page, "document.dispatchEvent(new Event('visibilitychange'))");
    await stopTimers(page);
    setScene("paid", "tron");
    expect(await page.isVisible("text=Receipt")).to.equal(false);
    await run(page, "document.hidden = false");
    await run(page, "document.dispatchEvent(new Event('visibilitychange'))");
    await page.waitForSelector("text=Receipt");
  });

  it("says when its server is unreachable, and recovers automatically", async () => {
    const page = await open("sandbox");
    await page.route("**/v1/checkout/**", (route) => route.abort());
    await run(page, "dispatchEvent(new Event('focus'))");
    await page.waitForSelector("#connection:not([hidden])");
    await page.unroute("**/v1/checkout/**");
    setScene("paid", "sandbox");
    await page.waitForSelector("text=Receipt");
    expect(await page.isVisible("#connection")).to.equal(false);
    complaints = complaints.filter((text) => !text.includes("ERR_FAILED"));
  });

  it("asks for nothing after the deadline although its server is unreachable", async () => {
    const page = await open("tron");
    await page.waitForSelector("#time-left:not([hidden])");
    await page.route("**/v1/checkout/**", (route) => route.abort());
    await run(
      page,
      "document.getElementById('time-left').dataset.until = new Date(0).toISOString()",
    );
    await page.waitForSelector("#over:not([hidden])");
    expect(await page.isVisible("#amount, #address, .code")).to.equal(false);
    complaints = complaints.filter((text) => !text.includes("ERR_FAILED"));
  });

  it("says that it may be out of date while the server refuses to answer, and asks less often", async () => {
    const page = await open("tron");
    let refused = 0;
    await page.route("**/v1/checkout/**", (route) => {
      refused += 1;
      return route.fulfill({ status: 429, headers: { "Retry-After": "3600" }, body: "" });
    });
    await run(page, "dispatchEvent(new Event('focus'))");
    await page.waitForSelector("#connection:not([hidden])");
    expect(await page.isVisible("#amount")).to.equal(true);
    expect(refused).to.equal(1);
    complaints = complaints.filter((text) => !text.includes("429"));
  });

  it("copies the exact amount and address, and confirms it", async () => {
    const page = await open("tron", { permissions: ["clipboard-read", "clipboard-write"] });
    for (const [name, text] of [
      ["amount", "25.0001"],
      ["address", "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE"],
    ] as const) {
      await page.click(`#copy-${name}`);
      await page.waitForSelector(`#copy-${name}:text-is("Copied")`);
      expect(await run(page, "navigator.clipboard.readText()")).to.equal(text);
      expect(await page.textContent("#announcement")).to.equal(
        `${name === "amount" ? "Amount" : "Address"} copied`,
      );
    }
  });

  it("counts down by the server's clock and shows times in the payer's zone", async () => {
    const page = await open("tron", { timezoneId: "Asia/Tokyo", locale: "en-GB" });
    await page.waitForSelector("#time-left:not([hidden])");
    expect(await page.textContent("#time-left")).to.match(
      /^(59 mins \d+ secs?|1 hr 0 mins?) left$/,
    );
    expect(await page.textContent(".payment time")).to.equal("19:30 today");
    expect(await page.getAttribute(".payment time", "title")).to.equal("21 Nov 2026, 10:30 UTC");
  });

  it("works in a browser that names a language as the system does, and not as the web does", async () => {
    const page = await open("tron");
    await page.addInitScript(
      "Object.defineProperty(navigator, 'languages', { value: ['en-US@posix', 'en'] })",
    );
    await page.reload();
    await page.waitForSelector("#time-left:not([hidden])");
    expect(await page.textContent("#time-left")).to.match(
      /^(59 mins? \d+ secs?|1 hr 0 mins?) left$/,
    );
    await changeTo(page, "partly paid", "tron");
  });

  it("counts down, copies and announces in the page's language, with the digits of the amounts", async () => {
    const page = await open("tron", {
      locale: "ar-EG",
      timezoneId: "Asia/Tokyo",
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await page.waitForSelector("#time-left:not([hidden])");
    expect(await run(page, "document.documentElement.dir")).to.equal("rtl");
    expect(await page.textContent("#time-left")).to.match(/^الوقت المتبقي: \d+ [^ ]+/);
    const shown = await page.textContent("main");
    expect(shown).not.to.match(/(?![0-9])\p{Nd}/u);
    await page.click("#copy-amount");
    await page.waitForSelector("#copy-amount >> text=تم النسخ");
    expect(await page.textContent("#announcement")).to.equal("تم نسخ المبلغ");
    expect(await run(page, "navigator.clipboard.readText()")).to.equal("25.0001");
    setScene("partly paid", "tron");
    await page.waitForSelector("#checkout[data-state=partly_paid]");
    expect(await page.textContent("#announcement")).to.equal("وصل جزء من دفعتك");
  });

  it("asks for the payment again once it knows that only the payer's clock was wrong", async () => {
    const page = await open("tron");
    // A browser that hides the server's time, and a clock that is two hours ahead.
    await page.addInitScript(`
      Object.defineProperty(PerformanceResourceTiming.prototype, "serverTiming", { get: () => [] });
      const real = Date.now;
      Date.now = () => real() + ${String(2 * hour)} + (globalThis.steppedMs ?? 0);
    `);
    await page.reload();
    await page.waitForSelector("#payment:not([hidden])");
    expect(await page.textContent("#time-left")).to.match(/^(59 min|1 hr)/);
    // The page asks the server again at once, so that it may say for a moment only that the payment is over.
    await run(
      page,
      `new MutationObserver(() => {
        const { dataset } = document.documentElement;
        if (document.querySelector("#over:not([hidden])")) dataset.wasOver ??= "";
      }).observe(document.documentElement, { attributes: true, childList: true, subtree: true });
      globalThis.steppedMs = ${String(2 * hour)}`,
    );
    await page.waitForSelector("html[data-was-over]");
    await page.waitForSelector("#payment:not([hidden])");
    expect(await page.textContent("#time-left")).to.match(/^(59 min|1 hr)/);
  });

  for (const scheme of schemes) {
    it(`shows the code dark on white, at least 240 pixels wide, in ${scheme} mode`, async () => {
      const page = await open("tron", { viewport: narrow, colorScheme: scheme });
      await page.click("#code summary");
      const [box] = await sizesOf(page, ".code svg");
      expect(box?.width).to.be.at.least(240);
      const colors = await run(
        page,
        "[getComputedStyle(document.querySelector('.code path[fill]')).fill," +
          " getComputedStyle(document.querySelector('.code path[stroke]')).stroke]",
      );
      expect(colors).to.deep.equal(["rgb(255, 255, 255)", "rgb(0, 0, 0)"]);
    });
  }

  it("remains usable with text twice as large", async () => {
    const page = await open("tron", { viewport: { width: 640, height: 800 } });
    await run(page, "document.documentElement.style.fontSize = '200%'");
    const excess = await run(page, excessWidth);
    expect(excess).to.equal(0);
  });

  it("can be operated by keyboard alone, with a visible focus", async () => {
    const page = await open("sandbox");
    await page.waitForSelector("#copy-amount");
    const reached: unknown[] = [];
    for (let step = 0; step < 20; step += 1) {
      await page.keyboard.press("Tab");
      const name = await run(page, "document.activeElement.innerText");
      if ((await run(page, "document.activeElement === document.body")) === true) break;
      const outline = await run(page, "getComputedStyle(document.activeElement).outlineStyle");
      expect(outline, String(name)).to.equal("solid");
      reached.push(name);
    }
    expect(reached).to.deep.equal([
      "Copy amount",
      "Copy address",
      "Show the QR code",
      "Use a code that fills in the amount",
      "Details",
      "Already paid, but don't see it here?",
      "Check again",
      "Language: English",
      "Pay",
      "Underpay",
      "Overpay",
      "Mine",
      "Lose payment",
      "Expire",
    ]);
  });

  it("prints the receipt without screen-only elements", async () => {
    const page = await open("sandbox", { colorScheme: "dark" }, "paid");
    await page.waitForSelector("#print:not([hidden])");
    await page.emulateMedia({ media: "print" });
    expect(await page.isVisible(".receipt dl")).to.equal(true);
    expect(await page.isVisible(".ribbon:not(.connection)")).to.equal(true);
    for (const gone of ["#print", ".sandbox", ".actions .button"]) {
      expect(await page.isVisible(gone), gone).to.equal(false);
    }
    const ground = await run(page, "getComputedStyle(document.body).backgroundColor");
    expect(ground).to.equal("rgb(255, 255, 255)");
  });
});

function sceneNamed(name: string): Scene {
  const scene = scenes.find((each) => each.name === name);
  if (scene === undefined) throw new Error(`no scene is named ${name}`);
  return scene;
}

const excessWidth = "document.documentElement.scrollWidth - document.documentElement.clientWidth";

/** Evaluates an expression in the page. It is a string because these tests have no DOM types. */
function run(page: Page, expression: string): Promise<unknown> {
  return page.evaluate<unknown>(expression);
}

async function sizesOf(
  page: Page,
  selector: string,
): Promise<{ readonly width: number; readonly height: number }[]> {
  const found = await page.locator(selector).all();
  const boxes = await Promise.all(found.map((element) => element.boundingBox()));
  return boxes.filter((box) => box !== null);
}
