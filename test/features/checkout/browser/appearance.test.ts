import { createHash } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import axe from "axe-core";
import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { PNG } from "pngjs";
import { decodeQR } from "qr/decode.js";
import { describeInBrowser } from "../../../support/suites/describe-in-browser.ts";
import { testsAll } from "../../../support/store/stores.ts";
import { aPng } from "../../../support/pictures/pictures.ts";
import { StoreUnavailable } from "../../../../src/platform/database/errors.ts";
import { checkoutId, openLab, type Lab } from "../lab.ts";
import { scenes, type Scene } from "../scenes.ts";

/**
 * The pictures of all pages, for people who work on their look: TILL_PICTURES=1 takes them. Not
 * under version control.
 */
const takesPictures = process.env["TILL_PICTURES"] === "1";
const pictures = fileURLToPath(new URL("../../../../pictures/checkout/", import.meta.url));

const languages = ["en", "ar"] as const;
const schemes = ["light", "dark"] as const;
const viewports = [
  { width: 320, height: 640 },
  { width: 390, height: 844 },
  { width: 1280, height: 900 },
] as const;

/** Every width in every scheme; without TILL_TEST_ALL=1 each width once, and the phone's in dark. */
const looks = viewports
  .flatMap((viewport) => schemes.map((colorScheme) => ({ viewport, colorScheme })))
  .filter(
    ({ viewport, colorScheme }) =>
      testsAll || takesPictures || (viewport.width === 390) === (colorScheme === "dark"),
  );

/** The rules of axe about colors, sizes and what overlaps. The others look at the document, which stays the same. */
const changing = [
  "color-contrast",
  "link-in-text-block",
  "target-size",
  "scrollable-region-focusable",
];

/** Returns the script that finds faults in the page as it is now, with the elements; by all rules, or by some. */
const findFaults = (rules: readonly string[] | null): string => `axe
  .run({ resultTypes: ["violations"], runOnly: ${JSON.stringify(rules ?? undefined)} })
  .then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => [id, ...target, failureSummary].join(" "))))`;

/** The elements that are not high enough to be pressed, in pixels: WCAG 2.5.8 asks for 24, and a thumb needs more. */
const tooLow = `[["a.button, button:not([hidden])", 44], ["summary", 24]].flatMap(([selector, least]) =>
  [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility())
    .filter((one) => one.getBoundingClientRect().height < least)
    .map((one) => [one.innerText, one.getBoundingClientRect().height].join(": ")))`;

/** The number of pixels by which the page is wider than its window. */
const excess = "document.documentElement.scrollWidth - document.documentElement.clientWidth";

/** The page of one language, which shows all scenes one after the other. */
interface Reader {
  readonly language: (typeof languages)[number];
  readonly page: Page;
  /** Errors, refusals of the page's security policy, and requests to other hosts. */
  readonly complaints: string[];
}

/** Pages without a payment. */
const others: readonly {
  readonly name: string;
  readonly path: string;
  readonly set?: (lab: Lab) => void;
}[] = [
  { name: "the bare host", path: "/" },
  { name: "an unknown payment", path: "/pay/chk_unknown" },
  {
    name: "a store that is unavailable",
    path: `/pay/${checkoutId}`,
    set: ({ world }) => (world.fault = new StoreUnavailable("the disk is full")),
  },
];

describeInBrowser("every state of a checkout in a browser", (browser) => {
  let readers: readonly Reader[];

  before(async () => {
    if (takesPictures) {
      rmSync(pictures, { recursive: true, force: true });
      mkdirSync(pictures, { recursive: true });
    }
    readers = await Promise.all(languages.map((language) => openReader(browser(), language)));
  });
  after(() => Promise.all(readers.map(({ page }) => page.context().close())));

  for (const scene of scenes) {
    it(`is accessible, scannable and fits, in both directions, color schemes and widths: ${scene.name}`, async () => {
      const lab = await openLab("ethereum");
      try {
        furnish(lab, scene);
        const payloads = await payloadsIn(lab);
        await Promise.all(readers.map((reader) => inspect(reader, scene.name, lab.page, payloads)));
      } finally {
        await lab.close();
      }
    });
  }

  for (const { name, path, set } of others) {
    it(`is as accessible, and fits: ${name}`, async () => {
      const lab = await openLab("ethereum");
      set?.(lab);
      try {
        await Promise.all(readers.map((reader) => inspect(reader, name, lab.url + path)));
      } finally {
        await lab.close();
      }
    });
  }
});

async function openReader(browser: Browser, language: Reader["language"]): Promise<Reader> {
  const context = await browser.newContext({ locale: language });
  await context.addInitScript(axe.source);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    // The browser reports the status of a problem's page too.
    if (message.location().url === page.url()) return;
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    const { hostname, protocol } = new URL(request.url());
    if (hostname !== "127.0.0.1" && protocol !== "data:") complaints.push(request.url());
  });
  return { language, page, complaints };
}

/**
 * Loads a page once, and inspects it in widths and colors. The codes of the first scene are read in each of them,
 * and those of the other scenes, which show the same element, once.
 */
async function inspect(
  { language, page, complaints }: Reader,
  title: string,
  url: string,
  payloads: readonly string[] = [],
): Promise<void> {
  await page.goto(`${url}?lang=${language}`);
  let rules: readonly string[] | null = null;
  for (const { viewport, colorScheme } of looks) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const name = `${title} ${language} ${colorScheme} ${String(viewport.width)}`;
    if (takesPictures) {
      const path = `${pictures}${name.replaceAll(/\W+/g, "-")}.jpg`;
      await page.screenshot({ path, fullPage: true, type: "jpeg", quality: 80 });
    }
    expect(await run(page, excess), `${name}: sideways scroll`).to.equal(0);
    await unfold(page, true);
    expect(await run(page, excess), `${name}: sideways scroll, unfolded`).to.equal(0);
    expect(await run(page, tooLow), `${name}: too low to press`).to.deep.equal([]);
    expect(await run(page, findFaults(rules)), name).to.deep.equal([]);
    if (rules === null || title === scenes[0]?.name) {
      expect(await codesIn(page), name).to.deep.equal(payloads);
    }
    rules = changing;
    await unfold(page, false);
  }
  // The stream of this checkout ends with the page, not with its server.
  await page.goto("about:blank");
  expect(complaints.splice(0)).to.deep.equal([]);
}

/** A name that has no place to break. */
const longestWord = "Donaudampfschifffahrtsgesellschaftskapitän".repeat(3);

/** A checkout with everything that a merchant can add to it. */
function furnish(lab: Lab, scene: Scene): void {
  scene.set(lab, "ethereum");
  if (!takesPictures) lab.world.merchantName = longestWord;
  lab.world.website = "https://cafe.example/";
  lab.world.contactEmail = "hello@cafe.example";
  lab.world.accentColor = "#ffd400";
  lab.world.logo = aPng(96, 64);
  lab.change({
    description: "Two coffees and a slice of cake",
    externalId: "R-1007",
    redirectUrl: "https://cafe.example/thanks",
  });
}

async function unfold(page: Page, isOpen: boolean): Promise<void> {
  await run(
    page,
    `document.querySelectorAll("details").forEach((one) => { one.open = ${String(isOpen)} })`,
  );
}

/** The payloads of the pictures that have been read. Many pages show the same code. */
const payloadsOf = new Map<string, string>();

/** Reads the codes that are visible, from pictures of them. */
async function codesIn(page: Page): Promise<string[]> {
  const shown = await page.locator(".code").all();
  const read: string[] = [];
  for (const code of shown) {
    const picture = await code.screenshot();
    const digest = createHash("sha256").update(picture).digest("hex");
    const payload = payloadsOf.get(digest) ?? decodeQR(PNG.sync.read(picture));
    payloadsOf.set(digest, payload);
    read.push(payload);
  }
  return read;
}

/** Returns what the codes of the page must hold: the bare address first, then the payment's URI. */
async function payloadsIn(lab: Lab): Promise<string[]> {
  const answer = await lab.get(new URL(lab.page).pathname.replace("/pay/", "/v1/checkout/"));
  const session = (await answer.json()) as {
    nextAction: string;
    paymentUri: string;
    invoice: { walletAddress: string };
  };
  if (session.nextAction !== "pay") return [];
  return [session.invoice.walletAddress, session.paymentUri];
}

/** Evaluates an expression in the page. It is a string because these tests have no DOM types. */
function run(page: Page, expression: string): Promise<unknown> {
  return page.evaluate<unknown>(expression);
}
