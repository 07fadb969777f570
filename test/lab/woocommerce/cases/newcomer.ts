import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import type { Page } from "playwright-core";
import { builtProgram } from "../../../support/programs/built.ts";
import { buy, openAsAdmin, press, untilAtTill } from "../browser.ts";
import type { Case } from "../case.ts";
import { openShop } from "../shop.ts";
import { counting, expectNoComplaints, expectPaidOnce, type Stage } from "../stage.ts";
import { startTill, type TillBeside } from "../till-beside.ts";

const manual = new URL("../../../../docs/integrations/woocommerce.md", import.meta.url);

/** The values in the manual's examples that readers replace by their own. */
const examples = {
  organization: "org_01kq3v5m8w2f6n9r4t7x0z1c3e",
  shop: "https://shop.example",
} as const;

/** Returns the numbered steps of the section on the installation. */
function stepsOf(text: string): readonly string[] {
  const section = /^## Install it$([\s\S]*?)^## /m.exec(text)?.[1] ?? "";
  const steps = section.split(/^(?=\d+\. )/m).filter((part) => /^\d+\. /.test(part));
  if (steps.length === 0) throw new Error("the manual has no numbered steps under Install it");
  return steps;
}

function commandsOf(step: string): readonly string[] {
  return [...step.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)].map(([, block = ""]) => block);
}

/** The names in double quotes, as the pages of WordPress have them. */
function namesOf(step: string): readonly string[] {
  const prose = step.replace(/^ *```sh\n[\s\S]*?^ *```/gm, "");
  return [...prose.matchAll(/"([^"]+)"/g)].map(([, name = ""]) => name);
}

/** Runs a block of commands in a shell in which `till` is to be had; returns what it prints. */
async function runBlock(block: string, { organization, env }: TillBeside, shop: string) {
  const commands = block
    .replaceAll(examples.organization, organization)
    .replaceAll(examples.shop, shop);
  // The reader's terminal is missing here, in which the program asks and the reader agrees.
  const agreeing = 'till() { command till "$@" --yes; }';
  const { stdout } = await promisify(execFile)("sh", ["-e", "-c", `${agreeing}\n${commands}`], {
    env: {
      PATH: `${join(builtProgram(), "..")}:${process.env["PATH"] ?? ""}`,
      TILL_DATA_DIR: env["TILL_DATA_DIR"] ?? "",
    },
  });
  return stdout;
}

/** Fills in a field of the settings' page, found by its label. */
async function enter(page: Page, label: string, value: string): Promise<void> {
  const row = page.locator("#mainform tr", { has: page.getByText(label, { exact: true }) }).first();
  const select = row.locator("select");
  if ((await select.count()) > 0) {
    await select.selectOption(value);
    return;
  }
  const box = row.locator("input[type=checkbox]");
  if ((await box.count()) > 0) await box.check();
  else await row.locator("input").first().fill(value);
}

async function follow(page: Page, { shop, till }: Pick<Stage, "shop" | "till">): Promise<void> {
  let printed = "";
  let pluginName = "";
  for (const step of stepsOf(readFileSync(manual, "utf8"))) {
    const names = namesOf(step);
    if (step.includes("`wp-content/plugins/till`")) {
      shop.installPlugin();
      [pluginName = ""] = names;
      await openAsAdmin(page, `${shop.url}/wp-admin/plugins.php`);
      const row = page.locator("tr", { has: page.locator("strong", { hasText: pluginName }) });
      await row.first().locator("a", { hasText: "Activate" }).click();
      await page.locator("tr.active", { hasText: pluginName }).first().waitFor();
    }
    for (const block of commandsOf(step)) printed += await runBlock(block, till, shop.url);
    if (!names.includes("API key")) continue;
    const values: Readonly<Record<string, string>> = {
      "Address of Till": till.url,
      "API key": /\btill_(?:test|live)_\S+/.exec(printed)?.[0] ?? "",
      "Webhook secret": /\bwhsec_\S+/.exec(printed)?.[0] ?? "",
      Enable: "",
      // The manual says that these stay empty.
      Token: "",
      Network: "",
    };
    await openAsAdmin(
      page,
      `${shop.url}/wp-admin/admin.php?page=wc-settings&tab=checkout&section=till`,
    );
    for (const name of names) {
      if (name === "Save changes") continue;
      const value = values[name];
      if (value === undefined) throw new Error(`the manual names "${name}"`);
      await enter(page, name, value);
    }
    await page.getByRole("button", { name: "Save changes" }).click();
    await page.locator("#mainform .notice, .updated, .notice-success").first().waitFor();
  }
  expect(pluginName, "the step that activates the plug-in").to.not.equal("");
}

/** The manual, read by a newcomer. */
export const newcomers: readonly Case[] = [
  {
    name: "newcomer",
    promise: "The steps of the manual, followed as they are written, end in a paid order.",
    dependsOn: [],
    async run(stage) {
      const { parent, database, shop: first, checkout } = stage;
      const { pair, storage } = first;
      const till = await startTill(parent, `till-newcomer-${pair.name}`);
      const shop = await openShop(parent, database, { pair, storage, isInstalled: false });
      try {
        const page = await stage.page();
        await follow(page, { shop, till });
        const connection = { url: "", api_key: "", webhook_secret: "" };
        const own: Stage = { ...stage, shop, till, connection };
        const count = await counting(own);
        const buyer = await stage.page();
        const order = await buy(buyer, shop, checkout);
        await untilAtTill(buyer);
        await press(buyer, "pay");
        await expectPaidOnce(own, order, count);
        expectNoComplaints(shop);
      } finally {
        await shop.remove();
        await till.stop();
      }
    },
  },
];
