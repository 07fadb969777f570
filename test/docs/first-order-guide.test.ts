// The guide of the first order: its program runs as printed.
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { formatAddress } from "../../src/platform/chain/evm/addresses.ts";
import { anyServed, approvedMerchant, expectStatus, keyOf } from "../support/app.ts";
import { pressOnPage } from "../support/sandbox.ts";

const guide = new URL("../../docs/guides/first-order.md", import.meta.url);

anyServed(
  "the guide of the first order",
  (served) => {
    let folder = "";
    let key = "";
    let shopKey = "";
    let home = "";
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), "till-guide-"));
      const [, program = ""] = /```js\n([\s\S]+?)```/.exec(await readFile(guide, "utf8")) ?? [];
      await writeFile(join(folder, "shop.mjs"), program);
      const merchant = await approvedMerchant(served.app);
      ({ key } = merchant);
      shopKey = await keyOf(served.app, merchant, "shop");
      home = merchant.path;
      const address = formatAddress("1234567890abcdef1234567890abcdef12345678");
      await merchant.addWallet({ address });
    });
    after(() => rm(folder, { recursive: true, force: true }));

    /** Runs the shop, presses a button of the checkout page once it prints the link, and returns its lines. */
    async function runShop(order: string, press: (checkoutUrl: string) => Promise<void>) {
      const child = spawn(process.execPath, [join(folder, "shop.mjs"), order], {
        env: { ...process.env, TILL: served.app.url, KEY: shopKey },
        stdio: ["ignore", "pipe", "inherit"],
      });
      const lines: string[] = [];
      try {
        for await (const line of createInterface({ input: child.stdout })) {
          lines.push(line);
          const url = /at (http\S+)$/.exec(line)?.[1];
          if (url !== undefined) await press(url);
        }
      } finally {
        child.kill();
      }
      return lines;
    }

    it("ships what is paid", async () => {
      const lines = await runShop("order-1", async (url) => {
        await pressOnPage(served.app, url, "pay");
      });
      expect(lines[0]).to.match(/^25(?:\.\d+)? USDT at http/);
      expect(lines.at(-1)).to.equal("Ship order-1.");
    });

    it("ships nothing that was canceled", async () => {
      const lines = await runShop("order-2", async () => {
        const { body } = await served.app.request("GET", `${home}/invoices?externalId=order-2`, {
          key,
        });
        const [invoice] = body["data"] as { readonly id: string }[];
        const path = `${home}/invoices/${invoice?.id ?? ""}/cancel`;
        await expectStatus(served.app.request("POST", path, { key }), 200);
      });
      expect(lines.at(-1)).to.equal("Do not ship order-2: it was canceled.");
    });
  },
  { settings: { TILL_SANDBOX_BLOCK_MS: "200" } },
);
