// Clients that two generators create from docs/openapi.json compile under `strict`, and a shop sells with each of them.
import { spawnSync } from "node:child_process";
import { copyFile, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { buildSync } from "esbuild";
import { mineBlocks } from "../../src/features/payments/sandbox/sandbox.ts";
import { approvedMerchant, startApp, type Merchant, type TestApp } from "../support/app.ts";
import { xpubs } from "../support/merchants.ts";
import { pressOnPage } from "../support/sandbox.ts";
import { testContext } from "../support/store/stores.ts";
import { until } from "../support/until.ts";

/** The interface of the shops in test/clients/shops. */
interface Shop {
  /** The result of each order, by name. */
  readonly orders: ReadonlyMap<string, string>;
  order(name: string, amount: string): Promise<{ readonly checkoutId: string | null }>;
  /** Processes everything that has happened since the last call. */
  work(): Promise<void>;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const shops = ["openapi-fetch", "hey-api"];

const generate = `
import { writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { createClient } from "@hey-api/openapi-ts";
import openapiTypescript, { astToString } from "openapi-typescript";
const [document] = process.argv.slice(2);
const tree = await openapiTypescript(pathToFileURL(document));
await writeFile("schema.ts", astToString(tree));
await createClient({ input: document, output: "hey", logs: { level: "silent" } });
`;

const settings = {
  compilerOptions: {
    target: "es2023",
    module: "esnext",
    moduleResolution: "bundler",
    types: ["node"],
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
  },
  files: [...shops.map((name) => `${name}.ts`)],
};

describe("a shop on a generated client", () => {
  let folder: string;
  let app: TestApp;
  let merchant: Merchant;

  /** Runs a program in the folder; returns its output, which is empty on success. */
  function run(file: string, ...words: readonly string[]): string {
    const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...words], {
      cwd: folder,
      encoding: "utf8",
    });
    return status === 0 ? "" : `${stdout}${stderr}` || `ended with ${String(status)}`;
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "till-clients-"));
    await symlink(join(root, "node_modules"), join(folder, "node_modules"));
    await writeFile(join(folder, "package.json"), '{"type":"module"}');
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(settings));
    await writeFile(join(folder, "generate.js"), generate);
    for (const name of shops) {
      await copyFile(join(root, `test/clients/shops/${name}.ts`), join(folder, `${name}.ts`));
    }
    expect(run("generate.js", join(root, "docs/openapi.json"))).to.equal("");

    app = await startApp({ settings: { TILL_SANDBOX_BLOCK_MS: "0" } });
    merchant = await approvedMerchant(app);
    await merchant.addWallet({ xpub: xpubs.first });
    await mineBlocks(app.app, testContext, 1);
  });
  after(async () => {
    await app.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it("compiles under strict, with numbers as numbers and every status of an invoice", () => {
    expect(run(join(root, "node_modules/typescript-native/bin/tsc"))).to.equal("");
  });

  for (const name of shops) {
    it(`ships paid orders, and requests or refunds differences (${name})`, async () => {
      const program = join(folder, `${name}.mjs`);
      buildSync({
        entryPoints: [join(folder, `${name}.ts`)],
        outfile: program,
        bundle: true,
        platform: "node",
        format: "esm",
        packages: "external",
      });
      const { openShop } = (await import(program)) as {
        readonly openShop: (options: object) => Shop;
      };
      const { key: apiKey, organizationId } = merchant;
      const shop = openShop({ apiBase: `${app.url}/v1`, apiKey, organizationId });
      const outcomes: Readonly<Record<string, string>> = {
        [`${name} paid`]: "shipped",
        [`${name} underpaid`]: "asked for the rest",
        [`${name} too late`]: "refund what came",
        [`${name} forgotten`]: "given up",
      };
      const press = async (order: { checkoutId: string | null }, ...buttons: string[]) => {
        for (const action of buttons) await pressOnPage(app, String(order.checkoutId), action);
      };
      const [paid, underpaid, late, forgotten] = await Promise.all(
        Object.keys(outcomes).map((order) => shop.order(order, "25.00")),
      );
      if (!paid || !underpaid || !late || !forgotten) throw new Error("an order is missing");
      await press(paid, "pay");
      await press(underpaid, "underpay");
      await press(late, "underpay", "mine", "mine", "mine", "expire");
      await press(forgotten, "expire", "mine", "mine", "mine");
      await until(
        "the shop",
        async () => {
          await shop.work();
          return [...shop.orders].filter(([order, outcome]) => outcomes[order] !== outcome);
        },
        (others) => others.length === 0,
      );
    });
  }
});
