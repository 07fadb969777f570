// The payment provider for Medusa, compiled and run with stand-ins for the framework's base class, against the whole
// program: its invoices are real, and so are the webhooks.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { build } from "esbuild";
import { openTill, type Till } from "../../src/client/index.ts";
import { anyServed, approvedMerchant, keyOf } from "../support/app.ts";
import { xpubs } from "../support/merchants.ts";
import { pressOnPage } from "../support/sandbox.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import type { ProviderWebhookPayload, WebhookActionResult } from "./medusa/types.ts";
import type { AbstractPaymentProvider } from "./medusa/utils.ts";

interface Module {
  readonly default: {
    readonly module: string;
    readonly services: readonly [
      {
        new (container: object, options: object): AbstractPaymentProvider<object>;
        validateOptions(options: object): void;
      },
    ];
  };
}

const root = fileURLToPath(new URL("../../", import.meta.url));
const entry = join(root, "docs/integrations/medusa/index.ts");
const framework = join(root, "test/integrations/medusa");

anyServed(
  "the payment provider for Medusa",
  (served) => {
    let folder = "";
    let receiver: Receiver;
    let till: Till;
    let organization = "";
    let settings: Readonly<Record<string, string>>;
    let module: Module["default"];
    let provider: AbstractPaymentProvider<object>;

    before(async () => {
      folder = mkdtempSync(join(tmpdir(), "till-medusa-"));
      receiver = await startReceiver();
      const merchant = await approvedMerchant(served.app);
      organization = merchant.organizationId;
      till = openTill({ url: served.app.url, apiKey: merchant.key });
      await merchant.addWallet({ xpub: xpubs.first });
      const { secret } = await till.webhooks.createEndpoint(organization, { url: receiver.url });
      const outfile = join(folder, "provider.mjs");
      await build({
        entryPoints: [entry],
        outfile,
        bundle: true,
        platform: "node",
        format: "esm",
        alias: {
          "@medusajs/framework/utils": join(framework, "utils.ts"),
          "till-client": join(root, "src/client/index.ts"),
        },
      });
      ({ default: module } = (await import(outfile)) as Module);
      const token = { tokenSymbol: "USDT", network: "sandbox" };
      const apiKey = await keyOf(served.app, merchant, "shop");
      settings = { url: served.app.url, apiKey, webhookSecret: secret, ...token };
      provider = new module.services[0]({}, settings);
    });
    after(async () => {
      await receiver.close();
      rmSync(folder, { recursive: true, force: true });
    });

    const initiate = (session: string, amount: string | number | object) =>
      provider.initiatePayment({
        amount: amount as string,
        currency_code: "usd",
        data: { session_id: session },
      });
    const invoiceOf = (data: Record<string, unknown> | undefined) =>
      till.invoices.get(organization, String(data?.["invoiceId"]));

    const press = (data: Record<string, unknown> | undefined, action: string) =>
      pressOnPage(served.app, String(data?.["checkoutUrl"]), action);

    const payload = (body: string, headers: object): ProviderWebhookPayload["payload"] => ({
      data: {},
      rawData: Buffer.from(body),
      headers: headers as Record<string, unknown>,
    });

    /** Passes on the webhooks about a session until one has this action. */
    const actionUntil = (session: string, action: string): Promise<WebhookActionResult> =>
      until(
        `${action} of ${session}`,
        async () => {
          for (const { body, headers } of receiver.requests) {
            if (!body.includes(session)) continue;
            const result = await provider.getWebhookActionAndData(payload(body, headers));
            if (result.action === action) return result;
          }
          return { action: "pending" as const };
        },
        (result) => result.action === action,
      );

    it("compiles under strict settings against the framework's interface", () => {
      const options = {
        target: "es2023",
        module: "esnext",
        moduleResolution: "bundler",
        strict: true,
        noUncheckedIndexedAccess: true,
        exactOptionalPropertyTypes: true,
        noImplicitOverride: true,
        noPropertyAccessFromIndexSignature: true,
        noUnusedLocals: true,
        skipLibCheck: true,
        allowImportingTsExtensions: true,
        noEmit: true,
        types: ["node"],
        typeRoots: [join(root, "node_modules/@types")],
        paths: {
          "@medusajs/framework/*": [join(framework, "*.ts")],
          "till-client": [join(root, "src/client/index.ts")],
        },
      };
      const project = join(folder, "tsconfig.json");
      writeFileSync(project, JSON.stringify({ compilerOptions: options, files: [entry] }));
      const compiler = join(root, "node_modules/typescript-native/bin/tsc");
      const { status, stdout } = spawnSync(process.execPath, [compiler, "-p", project], {
        encoding: "utf8",
      });
      expect(status, stdout).to.equal(0);
      expect(module.module).to.equal("payment");
    });

    it("creates one invoice for a repeated session, and reports it as captured once it is paid", async () => {
      const first = await initiate("payses_1", { numeric: 25, raw: { value: "25.00" } });
      const again = await initiate("payses_1", { value: "25.00" });
      expect(again.id).to.equal(first.id);
      expect(first.status).to.equal("pending");
      await press(first.data, "pay");
      const { data } = await actionUntil("payses_1", "captured");
      expect(data).to.deep.equal({ session_id: "payses_1", amount: "25.00" });
      const session = first.data ?? {};
      expect((await provider.authorizePayment({ data: session })).status).to.equal("captured");
      await provider.capturePayment({ data: session });
      // Money that came stays: cancellation and refunds are the merchant's.
      await provider.cancelPayment({ data: session });
      await provider.refundPayment({ data: session, amount: 5 });
      expect((await invoiceOf(session)).status).to.equal("paid");
    });

    it("asks for a changed cart with another invoice, and keeps the one of the same amount", async () => {
      const first = await initiate("payses_2", 10);
      const priced = { currency_code: "usd", data: first.data ?? {} };
      const same = await provider.updatePayment({ ...priced, amount: "10.0" });
      expect(same.data).to.deep.equal(first.data);
      const changed = await provider.updatePayment({ ...priced, amount: 12.5 });
      expect(changed.data?.["invoiceId"]).not.to.equal(first.id);
      expect(await invoiceOf(first.data)).to.include({ status: "canceled" });
      expect(await invoiceOf(changed.data)).to.include({ amount: "12.50", status: "open" });
      const back = await provider.updatePayment({
        ...priced,
        data: changed.data ?? {},
        amount: 10,
      });
      expect(await invoiceOf(back.data)).to.include({ amount: "10.00", status: "open" });
      await press(back.data, "underpay");
      await until(
        "the part",
        () => invoiceOf(back.data),
        ({ status }) => status === "partially_paid",
      );
      const more = { currency_code: "usd", data: back.data ?? {}, amount: 13 };
      const refusal = await provider.updatePayment(more).catch(String);
      expect(refusal).to.include("Money is on the way");
      const unpaid = await provider.capturePayment({ data: back.data ?? {} }).catch(String);
      expect(unpaid).to.include("is not paid");
    });

    it("fails a session whose invoice expired, and cancels the invoice of a deleted one", async () => {
      const expired = await initiate("payses_3", "15.00");
      await press(expired.data, "expire");
      await actionUntil("payses_3", "failed");
      const deleted = await initiate("payses_4", "16.00");
      await provider.deletePayment({ data: deleted.data ?? {} });
      expect(await invoiceOf(deleted.data)).to.include({ status: "canceled" });
      await actionUntil("payses_4", "canceled");
    });

    it("ignores forged webhooks and events of others, and names missing options", async () => {
      const [one] = receiver.requests;
      if (one === undefined) throw new Error("nothing was delivered");
      const forged = payload(`${one.body} `, one.headers);
      expect(await provider.getWebhookActionAndData(forged)).to.deep.equal({
        action: "not_supported",
      });
      const count = receiver.requests.length;
      const { tokenSymbol, network } = settings;
      await till.invoices.create(organization, {
        amount: "5",
        settlementCurrency: "USD",
        tokenSymbol: String(tokenSymbol),
        network: String(network),
      });
      const foreign = await until(
        "the event of another invoice",
        () => receiver.requests.slice(count).find(({ body }) => body.includes('"amount":"5.00"')),
        (found) => found !== undefined,
      );
      const { body = "", headers = {} } = foreign ?? {};
      expect(await provider.getWebhookActionAndData(payload(body, headers))).to.deep.equal({
        action: "not_supported",
      });
      expect(() => {
        module.services[0].validateOptions({ ...settings, apiKey: "" });
      }).to.throw("needs the option apiKey");
    });
  },
  { settings: { TILL_SANDBOX_BLOCK_MS: "200", TILL_WEBHOOK_ALLOW_CIDRS: "127.0.0.1/32" } },
);
