// npm run prove:woocommerce: sets up shops of WordPress with WooCommerce and the plug-in from nothing, each beside a Till on
// the sandbox, and drives them in Chromium. Prints which case holds with which versions, storage of orders and checkout.
import type { Browser, BrowserContext, Page } from "playwright-core";
import { forget, newPerson, openBrowser } from "./browser.ts";
import type { Case } from "./case.ts";
import { cases } from "./cases.ts";
import { connect, type Connection } from "./connect.ts";
import type { MariaDb } from "./mariadb.ts";
import { ensureParts, pairs, type Pair } from "./parts.ts";
import {
  checkouts,
  openShop,
  storages,
  type CheckoutKind,
  type Shop,
  type Storage,
} from "./shop.ts";
import type { Stage } from "./stage.ts";
import { createTable } from "./table.ts";
import { startTill } from "./till-beside.ts";
import { inWorkspace } from "./workspace.ts";

const chosenPairs = (process.env["PROVE_PAIRS"] ?? "newest,oldest").split(",");
const chosenStorages = (process.env["PROVE_STORAGES"] ?? storages.join(",")).split(",");
/** Names of cases, or parts of them. */
const chosenCases = (process.env["PROVE_CASES"] ?? "").split(",");

const asked = cases.filter(({ name }) => chosenCases.some((part) => name.includes(part)));
const table = createTable(asked);

/** The storage and checkout with which cases are tried that do not depend on them: those of a new shop, and of an old one. */
const usual = {
  newest: { storage: "hpos", checkout: "block" },
  oldest: { storage: "posts", checkout: "classic" },
} as const;

/** The checkouts with which a case is tried on a storage. */
function checkoutsOf(
  { dependsOn }: Case,
  { name }: Pair,
  storage: Storage,
): readonly CheckoutKind[] {
  if (!dependsOn.includes("storage") && storage !== usual[name].storage) return [];
  return dependsOn.includes("checkout") ? checkouts : [usual[name].checkout];
}

/** Undoes what a case may have left. */
async function reset({ shop }: Pick<Stage, "shop">, connection: Connection): Promise<void> {
  await shop.halt();
  await shop.start();
  await shop.control("activate", true);
  await shop.control("option", "woocommerce_currency", "USD");
  await shop.control("option", "woocommerce_price_num_decimals", "2");
  await shop.control("settings", {
    ...connection,
    enabled: "yes",
    token: "USDT",
    network: "sandbox",
  });
}

/** The length of an excerpt of a page, in characters. */
const excerptMax = 800;

/** Gives a case pages, each in a browser of its own. The first one's is that of all cases of a shop. */
function pagesOf(browser: Browser, usualPerson: BrowserContext, { url }: Shop) {
  const opened: Page[] = [];
  return {
    opened,
    async open() {
      const isFirst = opened.length === 0;
      const context = isFirst ? usualPerson : await newPerson(browser);
      const page = await context.newPage();
      opened.push(page);
      if (isFirst) await forget(context, page, url);
      return page;
    },
    async close() {
      for (const [place, page] of opened.entries()) {
        await (place === 0 ? page.close() : page.context().close());
      }
    },
  };
}

/** Describes a page for the report of a failure, with its errors. */
async function excerptOf(page: Page): Promise<string> {
  const errors = page.locator("[role=alert], .woocommerce-error, .is-error");
  const texts = await Promise.all(
    [errors, page.locator("main, #content, body").first()].map((part) =>
      part.allInnerTexts().catch(() => []),
    ),
  );
  return `${page.url()}: ${texts.flat().join(" ").replace(/\s+/g, " ").slice(0, excerptMax)}`;
}

async function tryCase(
  one: Case,
  stage: Omit<Stage, "page">,
  pages: ReturnType<typeof pagesOf>,
): Promise<string | null> {
  const { shop, connection } = stage;
  let failure: string | null = null;
  try {
    await one.run({ ...stage, page: () => pages.open() });
  } catch (error) {
    const seen = await Promise.all(pages.opened.map(excerptOf));
    failure = [error instanceof Error ? error.stack : String(error), ...seen].join("\n");
  }
  await pages.close();
  const complaints = shop.complaints();
  if (complaints !== "") failure = `${failure ?? ""}\ndebug.log: ${complaints}`;
  if (failure !== null) await reset(stage, connection);
  return failure;
}

/** Tries all cases with one pair and storage, in a shop of their own. */
async function tryShop(
  parent: string,
  database: MariaDb,
  browser: Browser,
  pair: Pair,
  storage: Storage,
) {
  const column = (checkout: CheckoutKind) => `${pair.name} ${storage} ${checkout}`;
  const tries = asked.flatMap((one) =>
    checkoutsOf(one, pair, storage).map((checkout) => ({ one, checkout })),
  );
  if (tries.length === 0) return;
  const shop = await openShop(parent, database, { pair, storage });
  const till = await startTill(parent, `till-${pair.name}-${storage}`);
  const person = await newPerson(browser);
  try {
    const connection = await connect(shop, till);
    console.log(`${pair.name} ${storage}: ${JSON.stringify(await shop.control("versions"))}`);
    for (const { one, checkout } of tries) {
      await shop.control("checkout", checkout);
      const startedAt = performance.now();
      const stage = { parent, database, shop, till, connection, checkout };
      const failure = await tryCase(one, stage, pagesOf(browser, person, shop));
      const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
      table.set(one, column(checkout), failure === null ? `${seconds} s` : "FAILED");
      console.log(
        `${failure === null ? "held  " : "FAILED"} ${column(checkout)}: ${one.name} (${seconds} s)`,
      );
      if (failure !== null) console.log(failure.replace(/^/gm, "    "));
    }
  } finally {
    await person.close();
    await shop.remove();
    await till.stop();
  }
}

await inWorkspace(async (parent, database) => {
  const wanted = pairs.filter(({ name }) => chosenPairs.includes(name));
  const wantedStorages = storages.filter((storage) => chosenStorages.includes(storage));
  for (const pair of wanted) await ensureParts(pair);
  const browser = await openBrowser();
  try {
    // All at once: most of the time goes into waiting.
    const shops = wanted.flatMap((pair) => wantedStorages.map((storage) => ({ pair, storage })));
    await Promise.all(
      shops.map(({ pair, storage }) => tryShop(parent, database, browser, pair, storage)),
    );
  } finally {
    await browser.close();
  }
  console.log(`\n${table.text()}`);
  if (table.failures() > 0 || table.held() === 0) process.exitCode = 1;
});
