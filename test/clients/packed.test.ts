// A server hands out the client: the programs of the guides and of the reference compile against its types under the
// strictest settings, and its shop sells.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { openTill, TillProblem } from "../../src/client/index.ts";
import { newWebhookSecret, sign } from "../../src/platform/outbound/standard-webhooks.ts";
import { systemRandom } from "../../src/platform/secrets/tokens.ts";
import { anyServed, approvedMerchant, keyOf } from "../support/app.ts";
import { xpubs } from "../support/merchants.ts";
import { freePort } from "../support/programs/free-port.ts";
import { pressOnPage } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

const strictest = {
  target: "es2023",
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noPropertyAccessFromIndexSignature: true,
  skipLibCheck: true,
  noUnusedLocals: true,
  verbatimModuleSyntax: true,
};
/** The programs of the other guides, with the lines that each prints. */
const printed: Readonly<Record<string, readonly RegExp[]>> = {
  "repeat.mts": [/^one invoice$/, /^422 idempotency_key_reused$/, /^\/amount /],
  "digits.mts": [/^25\.00 USD: 25\.00$/, /^25\.00 USD: 25\.\d*[1-9]$/, /^\d+ more$/],
  "quote.mts": [
    /^100\.00 USD at 1: 100\.00 USDT$/,
    /^100\.00 EUR at 1\.12: 112\.00 USDT$/,
    /^100\.00 XYZ: unsupported_currency$/,
  ],
};
const programsOfGuides = [
  "shop.mts",
  "receiver.mts",
  "lists.mts",
  "refused.mts",
  "whole-shop.mts",
  ...Object.keys(printed),
];
const onNode = { ...strictest, module: "nodenext", types: ["node"] };
const projects: Readonly<Record<string, object>> = {
  node: {
    compilerOptions: { ...onNode, outDir: "out" },
    files: programsOfGuides,
    include: ["reference/*.mts"],
  },
  before: { compilerOptions: { ...onNode, noEmit: true }, files: programsOfGuides },
  // A page has no types of Node.
  browser: {
    compilerOptions: {
      ...strictest,
      module: "esnext",
      moduleResolution: "bundler",
      noEmit: true,
      types: [],
      lib: ["es2023", "dom"],
    },
    files: ["browser.mts"],
  },
};
/** TypeScript 7, and TypeScript 6. */
const compilers: Readonly<Record<string, string>> = {
  node: "typescript-native",
  before: "typescript",
  browser: "typescript",
};
const browser = `
import { openTill, type CheckoutSession } from "till-client";
const till = openTill({ url: location.origin });
export const watch = (id: string, signal: AbortSignal): Promise<CheckoutSession> =>
  till.checkout.getSession(id, { signal });
`;
/** Imports the client of the package of the server. Each of these is an error of the compiler, or else \`@ts-expect-error\` is. */
const refused = `
import { openTill } from "till/client";
const till = openTill({ url: "https://till.example" });
export const all = [
  // @ts-expect-error -- no such status
  () => till.invoices.list("org_1", { status: "payed" }),
  // @ts-expect-error -- the amount is missing
  () => till.invoices.create("org_1", { settlementCurrency: "USD" }),
  // @ts-expect-error -- amounts are text
  () => till.invoices.create("org_1", { amount: 25, settlementCurrency: "USD" }),
  // @ts-expect-error -- reads have no idempotency key
  () => till.invoices.get("org_1", "inv_1", { idempotencyKey: "a" }),
  // @ts-expect-error -- it may be null
  async () => (await till.invoices.get("org_1", "inv_1")).externalId.length,
];
`;

anyServed(
  "the packed client",
  (served) => {
    let folder = "";
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), "till-packed-"));
      const installed = join(folder, "node_modules/till-client");
      await mkdir(installed, { recursive: true });
      await symlink(root, join(folder, "node_modules/till"));
      for (const name of ["@types", "undici-types"]) {
        await symlink(join(root, "node_modules", name), join(folder, "node_modules", name));
      }
      // `npm test` has built the program.
      const packed = await fetch(`${served.app.url}/docs/till-client.tgz`);
      await writeFile(join(folder, "client.tgz"), Buffer.from(await packed.arrayBuffer()));
      run("tar", "xzf", "client.tgz", "-C", installed, "--strip-components=1");
      const texts = await textsOf("docs/guides");
      const programs = [...texts.matchAll(/```ts\n\/\/ (\S+)\n([^]+?)```/g)];
      await mkdir(join(folder, "reference"));
      const files: Record<string, string> = { "refused.mts": refused, "browser.mts": browser };
      for (const [, name = "", code = ""] of programs) files[name] = code;
      const examples = (await textsOf("docs/api")).matchAll(/```ts\n([^]+?)```/g);
      for (const [place, [, code = ""]] of [...examples].entries()) {
        files[`reference/${String(place)}.mts`] = code;
      }
      // As `npm init` makes it. Programs of the guides must be modules all the same.
      files["package.json"] = '{"type":"commonjs"}';
      for (const [name, project] of Object.entries(projects)) {
        files[`${name}.json`] = JSON.stringify(project);
      }
      for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    });
    after(() => rm(folder, { recursive: true, force: true }));

    function run(...[command = "", ...words]: readonly string[]): void {
      const { status, stdout, stderr } = spawnSync(command, words, {
        cwd: folder,
        encoding: "utf8",
      });
      expect(status, `${command}: ${stdout}${stderr}`).to.equal(0);
    }

    it("has types for the strictest compilers, on Node and in browsers", () => {
      for (const name of Object.keys(projects)) {
        const program = join(root, "node_modules", compilers[name] ?? "", "bin/tsc");
        run(process.execPath, program, "-p", `${name}.json`);
      }
    });

    it("runs the shop of its guide until the order is paid", async () => {
      const { app } = served;
      const merchant = await approvedMerchant(app);
      const { organizationId, key } = merchant;
      const till = openTill({ url: app.url, apiKey: key });
      await merchant.addWallet({ xpub: xpubs.first });
      const child = spawn(process.execPath, [join(folder, "out/shop.mjs"), "order-7"], {
        env: { TILL: app.url, KEY: await keyOf(app, merchant, "shop") },
        stdio: ["ignore", "pipe", "inherit"],
      });
      const lines: string[] = [];
      try {
        for await (const line of createInterface({ input: child.stdout })) {
          lines.push(line);
          const url = / at (http\S+)$/.exec(line)?.[1];
          if (url === undefined) continue;
          await pressOnPage(app, url, "pay");
        }
      } finally {
        child.kill();
      }
      expect(lines.at(-1)).to.equal("Ship order-7.");
      const { data } = await till.invoices.list(organizationId, { externalId: "order-7" });
      expect(data.map(({ status }) => status)).to.deep.equal(["paid"]);
    });

    it("runs the programs of the other guides, which print what their text says", async () => {
      const merchant = await approvedMerchant(served.app);
      const { organizationId, key } = merchant;
      const till = openTill({ url: served.app.url, apiKey: key });
      const wallet = { label: "Till", network: "sandbox", xpub: xpubs.second };
      await till.wallets.create(organizationId, wallet);
      const address = "0x2222222222222222222222222222222222222222";
      for (const [name, expected] of Object.entries(printed)) {
        // One registers a wallet: its guide says with which scopes.
        const scopes = name === "digits.mts" ? ["wallets", "invoices"] : ["shop"];
        const env = { TILL: served.app.url, KEY: await keyOf(served.app, merchant, ...scopes) };
        const child = spawn(process.execPath, [join(folder, "out", name.replace(".mts", ".mjs"))], {
          env: { ...env, ADDRESS: address },
          stdio: ["ignore", "pipe", "inherit"],
        });
        const lines: string[] = [];
        for await (const line of createInterface({ input: child.stdout })) lines.push(line);
        expect(lines, `${name}: ${lines.join("; ")}`).to.have.length(expected.length);
        for (const [place, line] of lines.entries())
          expect(line, name).to.match(expected[place] ?? /^$/);
      }
    });

    it("runs the receiver of its guide", async () => {
      const secret = newWebhookSecret(systemRandom);
      const port = await freePort();
      const child = spawn(process.execPath, [join(folder, "out/receiver.mjs")], {
        env: { WEBHOOK_SECRET: secret, PORT: String(port) },
        stdio: ["ignore", "pipe", "inherit"],
      });
      try {
        const line = once(createInterface({ input: child.stdout }), "line");
        const data = { id: "inv_8", status: "paid", objectVersion: 4 };
        const body = JSON.stringify({ type: "invoice.overpaid", data });
        const timestampSeconds = Math.floor(Date.now() / 1_000);
        const message = { id: "evt_1", timestampSeconds, body: Buffer.from(body) };
        const deliver = (text: string) =>
          fetch(`http://127.0.0.1:${String(port)}/`, {
            method: "POST",
            body: text,
            headers: { ...sign({ ...message, secrets: [secret] }) },
          }).then(
            ({ status }) => status,
            () => null,
          );
        await until(
          "the receiver",
          () => deliver(`${body} `),
          (status) => status === 400,
        );
        expect(await deliver(body)).to.equal(204);
        expect(await line).to.deep.equal(["inv_8 has version 4: paid"]);
      } finally {
        child.kill();
      }
    });

    it("gives the first answer to a repeated key, all pages, and problems with their fields", async () => {
      const merchant = await approvedMerchant(served.app);
      const { organizationId, key } = merchant;
      const till = openTill({ url: served.app.url, apiKey: key });
      const options = { idempotencyKey: "customer-1" };
      const first = await till.customers.create(organizationId, { name: "Bob" }, options);
      const again = await till.customers.create(organizationId, { name: "Bob" }, options);
      expect(again.id).to.equal(first.id);
      for (const name of ["Carol", "Dave"]) await till.customers.create(organizationId, { name });
      const names: string[] = [];
      for await (const customer of till.customers.list(organizationId, { limit: 1 })) {
        names.push(customer.name);
      }
      expect(names).to.deep.equal(["Dave", "Carol", "Bob"]);
      const file = await till.invoices.export(organizationId, {
        createdFrom: "2026-01-31T00:00:00Z",
      });
      expect(file).to.match(/^id,organizationId,.*\r\n$/);
      let tag: string | null = null;
      const reader = openTill({
        url: served.app.url,
        apiKey: key,
        onAnswer: ({ headers }) => (tag = headers.get("ETag")),
      });
      await reader.customers.get(organizationId, first.id);
      const ifMatch = String(tag);
      await reader.customers.update(organizationId, first.id, { name: "Rob" }, { ifMatch });
      const stale = await reader.customers
        .update(organizationId, first.id, { name: "Bert" }, { ifMatch })
        .catch((error: unknown) => error);
      expect(stale).to.be.instanceOf(TillProblem).and.to.include({ code: "precondition_failed" });
      const refusal = await till.customers
        .create(organizationId, { name: "" })
        .catch((error: unknown) => error);
      expect(refusal).to.be.instanceOf(TillProblem).and.to.include({ status: 400 });
      expect((refusal as TillProblem).errors[0]?.pointer).to.equal("/name");
    });
  },
  {
    settings: {
      TILL_SANDBOX_BLOCK_MS: "200",
      TILL_RATES: "on",
      TILL_RATES_FILE: join(root, "config/rates.demo.yaml"),
    },
  },
);

/** Returns the Markdown files of a folder as one text. */
async function textsOf(path: string): Promise<string> {
  const names = await readdir(join(root, path));
  const texts = await Promise.all(names.map((name) => readFile(join(root, path, name), "utf8")));
  return texts.join("\n");
}
