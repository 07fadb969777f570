// The plugin for WooCommerce, run by PHP, against the whole program: its invoices are real, and so are the webhooks.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { currencyDecimals } from "../../src/kernel/money/money.ts";
import { sign } from "../../src/platform/outbound/standard-webhooks.ts";
import { anyServed, approvedMerchant, expectStatus, keyOf } from "../support/app.ts";
import { xpubs } from "../support/merchants.ts";
import { pressOnPage } from "../support/sandbox.ts";
import { startReceiver, type Received, type Receiver } from "../support/receiver.ts";
import { describeWithPhp } from "../support/suites/describe-with-php.ts";
import { until } from "../support/until.ts";

interface Order {
  readonly status: string;
  readonly notes: readonly string[];
  readonly completions: readonly number[];
  readonly transaction?: string;
}

interface Started {
  readonly result: string;
  readonly redirect: string;
  readonly message?: string;
}

interface Returned {
  readonly notices: readonly string[];
  readonly text: string;
}

interface Checked {
  readonly errors: Readonly<Record<string, string>>;
  readonly facts: readonly string[];
  readonly choices: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly secret: string;
}

const root = new URL("../../", import.meta.url);
const script = fileURLToPath(new URL("test/integrations/shop.php", root));
const plugin = fileURLToPath(new URL("docs/integrations/woocommerce/till/till.php", root));

describeWithPhp("the WooCommerce plugin", () => {
  anyServed(
    "sells",
    (served) => {
      let folder = "";
      let receiver: Receiver;
      let key = "";
      let organization = "";
      let secret = "";
      let delivered = 0;
      let settings: Record<string, string>;

      before(async () => {
        folder = mkdtempSync(join(tmpdir(), "till-woocommerce-"));
        receiver = await startReceiver();
        const { app } = served;
        const merchant = await approvedMerchant(app);
        ({ key, organizationId: organization } = merchant);
        await merchant.addWallet({ xpub: xpubs.first });
        const made = await expectStatus(
          merchant.post("/webhook-endpoints", { url: receiver.url }),
          201,
        );
        secret = String(made.body["secret"]);
        settings = {
          enabled: "yes",
          url: `${app.url}/`,
          api_key: await keyOf(app, merchant, "shop"),
          webhook_secret: secret,
          token: "USDT",
          network: "sandbox",
        };
        await shop({ do: "set up", settings });
      });
      after(async () => {
        await receiver.close();
        rmSync(folder, { recursive: true, force: true });
      });

      /** PHP runs beside this process, which answers its requests. */
      async function shop(...commands: readonly object[]): Promise<unknown[]> {
        const child = spawn("php", [script, plugin, join(folder, "state.json")]);
        child.stdin.end(JSON.stringify(commands));
        const [stdout, stderr] = await Promise.all([
          text(child.stdout),
          text(child.stderr),
          once(child, "close"),
        ]);
        expect(child.exitCode, stdout + stderr).to.equal(0);
        return JSON.parse(stdout) as unknown[];
      }

      async function deliver({
        headers,
        body,
      }: Pick<Received, "headers" | "body">): Promise<number> {
        const [status] = await shop({
          do: "deliver",
          body,
          id: headers["webhook-id"],
          timestamp: headers["webhook-timestamp"],
          signature: headers["webhook-signature"],
        });
        return status as number;
      }

      /** Passes on the webhooks that have come, each twice, until the order is as expected. */
      async function orderUntil(order: string, isGood: (order: Order) => boolean): Promise<Order> {
        return until(
          order,
          async () => {
            for (; delivered < receiver.requests.length; delivered += 1) {
              const one = receiver.requests[delivered];
              if (one === undefined) break;
              expect([await deliver(one), await deliver(one)]).to.deep.equal([204, 204]);
            }
            return (await shop({ do: "look", order }))[0] as Order;
          },
          isGood,
        );
      }

      const order = (id: string, data: object) => ({ do: "order", order: id, data });
      const look = async (id: string) => (await shop({ do: "look", order: id }))[0] as Order;
      const count = ({ notes }: Order, words: string) =>
        notes.filter((note) => note.includes(words)).length;
      const back = async (id: string) => (await shop({ do: "return", order: id }))[0] as Returned;
      const invoicesOf = async (id: string) => {
        const path = `/v1/organizations/${organization}/invoices?metadataKey=orderId&metadataValue=${id}`;
        const { body } = await served.app.request("GET", path, { key });
        return body["data"] as readonly Record<string, unknown>[];
      };
      const pay = async (id: string) => (await shop({ do: "pay", order: id }))[0] as Started;

      const press = (redirect: string, action: string) => pressOnPage(served.app, redirect, action);

      it("sends two clicks of an order to one page, and completes it when it is paid", async () => {
        await shop(order("1001", { total: "25" }));
        const first = await pay("1001");
        expect(first).to.include({ result: "success" });
        expect((await pay("1001")).redirect).to.equal(first.redirect);
        expect(await shop({ do: "may cancel", order: "1001" })).to.deep.equal([false]);
        await press(first.redirect, "pay");
        const { status, notes, transaction } = await orderUntil(
          "1001",
          (one) => one.status === "processing",
        );
        expect(status).to.equal("processing");
        expect(transaction).to.match(/^0x[0-9a-f]{64}$/);
        const paid = notes.filter((note) => note.includes("is paid"));
        expect(paid).to.have.length(1);
        expect((await pay("1001")).redirect).to.equal("https://shop.example/thanks?order=1001");
      });

      it("asks for a changed total with another invoice, and cancels the first", async () => {
        await shop(order("1002", { total: "10.00" }));
        const first = await pay("1002");
        await shop(order("1002", { total: "12.50" }));
        const second = await pay("1002");
        expect(second.redirect).not.to.equal(first.redirect);
        const [{ id: shopId }] = (await shop({ do: "option", option: "till_shop" })) as [
          { readonly id: string },
        ];
        expect(shopId).to.match(/^[0-9a-z]{6,}$/);
        const invoices = await invoicesOf("1002");
        expect(
          invoices.map(({ amount, status, externalId }) => [amount, status, externalId]),
        ).to.deep.equal([
          ["12.50", "open", `1002-${shopId}-2`],
          ["10.00", "canceled", `1002-${shopId}`],
        ]);
        const { status } = await orderUntil("1002", () => true);
        expect(status).to.equal("pending");
      });

      it("notes an overpayment on a paid order, and waits for the rest of a part", async () => {
        await shop(order("1003", { total: "30.00" }), order("1004", { total: "40.00" }));
        await press((await pay("1003")).redirect, "overpay");
        const over = await orderUntil("1003", ({ notes }) =>
          notes.some((note) => note.includes("Overpaid")),
        );
        expect(over.status).to.equal("processing");
        const part = await pay("1004");
        await press(part.redirect, "underpay");
        const held = await orderUntil("1004", ({ notes }) =>
          notes.some((note) => note.includes("Part of the payment has arrived")),
        );
        expect(held.status).to.equal("pending");
        // A customer who returns is sent to the same page, for the rest.
        expect((await pay("1004")).redirect).to.equal(part.redirect);
      });

      it("fails an order without money, and starts another invoice when it is tried again", async () => {
        await shop(order("1005", { total: "15.00" }));
        const first = await pay("1005");
        await press(first.redirect, "expire");
        const failed = await orderUntil("1005", (one) => one.status === "failed");
        expect(failed.notes.at(-1)).to.equal("The payment expired without money.");
        expect((await pay("1005")).redirect).not.to.equal(first.redirect);
      });

      it("does not complete an order that was canceled or changed before it was paid", async () => {
        await shop(order("1006", { total: "16.00" }), order("1007", { total: "17.00" }));
        const pages = [(await pay("1006")).redirect, (await pay("1007")).redirect];
        for (const page of pages) await press(page, "pay");
        // An invoice that is open still would be canceled with the order.
        for (const id of ["1006", "1007"]) {
          await until(
            "the payment",
            async () => (await invoicesOf(id))[0]?.["status"],
            (status) => status === "paid",
          );
        }
        await shop(order("1006", { status: "cancelled" }), order("1007", { total: "170.00" }));
        const isPaid = ({ notes }: Order) => notes.some((note) => note.includes("is paid"));
        const canceled = await orderUntil("1006", isPaid);
        expect(canceled.status).to.equal("on-hold");
        expect(canceled.notes.at(-1)).to.include("check the stock");
        const changed = await orderUntil("1007", isPaid);
        expect(changed.status).to.equal("on-hold");
        expect(changed.notes.at(-1)).to.include("another total");
      });

      it("refuses forged, old and changed deliveries, and those of an empty secret", async () => {
        const genuine = receiver.requests[0];
        if (genuine === undefined) throw new Error("nothing was delivered");
        const { body } = genuine;
        const now = Math.floor(Date.now() / 1_000);
        const made = (secrets: readonly string[], timestampSeconds: number, sent = body) => ({
          body: sent,
          headers: {
            ...sign({ id: "evt_1", timestampSeconds, body: Buffer.from(body), secrets }),
          } as Received["headers"],
        });
        const other = `whsec_${Buffer.from("x".repeat(24)).toString("base64")}`;
        expect(await deliver(made([secret], now))).to.equal(204);
        expect(await deliver(made([other, secret], now))).to.equal(204);
        expect(await deliver(made([other], now))).to.equal(400);
        expect(await deliver(made([secret], now - 301))).to.equal(400);
        expect(await deliver(made([secret], now + 330))).to.equal(400);
        expect(await deliver(made([secret], now, `${body} `))).to.equal(400);
        expect(await deliver({ body, headers: {} })).to.equal(400);
      });

      it("holds a delivery back while another process changes its order", async () => {
        const one = receiver.requests.find(({ body }) => body.includes('"invoice.paid"'));
        if (one === undefined) throw new Error("nothing was paid");
        const { data } = JSON.parse(one.body) as {
          readonly data: { readonly metadata: { readonly orderId: string } };
        };
        const lock = (since: number) => ({
          do: "set up",
          option: `till_lock_${data.metadata.orderId}`,
          value: `${String(since)} other`,
        });
        const now = Math.floor(Date.now() / 1_000);
        const maySync = { do: "may sync" };
        // Meanwhile, WooCommerce must not copy the order's post over the order.
        expect(await shop(maySync, lock(now), maySync)).to.deep.equal([true, null, false]);
        expect(await deliver(one)).to.equal(503);
        // The process that held it has died.
        expect(await shop(lock(now - 301), maySync)).to.deep.equal([null, true]);
        expect(await deliver(one)).to.equal(204);
        await orderUntil("1001", () => true);
      });

      it("decides by the newest state, whichever delivery comes first", async () => {
        await shop(order("1009", { total: "19.00" }), order("1010", { total: "20.00" }));
        for (const id of ["1009", "1010"]) await press((await pay(id)).redirect, "pay");
        const isOf = (id: string, type: string) => (one: Received) =>
          one.body.includes(`"orderId":"${id}"`) && one.body.includes(`"type":"${type}"`);
        const received = (id: string, type: string) =>
          until(
            `${type} of ${id}`,
            () => receiver.requests.find(isOf(id, type)),
            (one) => one !== undefined,
          ) as Promise<Received>;
        const paid = await received("1009", "invoice.paid");
        const event = JSON.parse(paid.body) as {
          readonly data: { readonly objectVersion: number };
        };
        const after = async (versions: number, type: string, status: string) => {
          const data = {
            ...event.data,
            status,
            objectVersion: event.data.objectVersion + versions,
          };
          const body = JSON.stringify({ ...event, type, data });
          const timestampSeconds = Math.floor(Date.now() / 1_000);
          const id = `evt_after_${String(versions)}`;
          const signed = sign({ id, timestampSeconds, body: Buffer.from(body), secrets: [secret] });
          expect(await deliver({ body, headers: { ...signed } })).to.equal(204);
          return (await look("1009")).status;
        };
        expect(await after(1, "invoice.overpaid", "paid")).to.equal("processing");
        expect(await deliver(paid)).to.equal(204);
        expect(count(await look("1009"), "is paid")).to.equal(1);
        // A person holds the order; another payment does not release it.
        await shop(order("1009", { status: "on-hold" }));
        expect(await after(2, "invoice.overpaid", "paid")).to.equal("on-hold");
        await shop(order("1009", { status: "processing" }));
        // A reorganization whose first event comes last.
        expect(await after(4, "invoice.confirming", "confirming")).to.equal("on-hold");
        expect(await after(3, "invoice.reverted", "open")).to.equal("on-hold");
        expect(count(await look("1009"), "took a payment back")).to.equal(1);
        expect(await after(5, "invoice.paid", "paid")).to.equal("processing");
        // One payment of several is taken back, and the invoice stays paid.
        expect(await after(6, "invoice.reverted", "paid")).to.equal("processing");

        // The customer's return has shown that it is paid.
        const confirming = await received("1010", "invoice.confirming");
        await received("1010", "invoice.paid");
        await shop({ do: "return", order: "1010" });
        expect(await deliver(confirming)).to.equal(204);
        const returned = await look("1010");
        expect(returned.status).to.equal("processing");
        expect(count(returned, "waits for confirmations")).to.equal(0);
      });

      it("notes refunds, and says so if Till cannot be reached", async () => {
        const one = receiver.requests.find(({ body }) => body.includes('"invoice.paid"'));
        const event = JSON.parse(one?.body ?? "{}") as Record<string, unknown>;
        const { id } = event["data"] as { readonly id: string };
        const refund = {
          ...event,
          type: "refund.confirmed",
          data: {
            id: "rfd_1",
            invoiceId: id,
            amount: "5.00",
            tokenSymbol: "USDT",
            objectVersion: 3,
          },
        };
        const body = JSON.stringify(refund);
        const timestampSeconds = Math.floor(Date.now() / 1_000);
        const headers = {
          ...sign({ id: "evt_r", timestampSeconds, body: Buffer.from(body), secrets: [secret] }),
        };
        expect(await deliver({ body, headers })).to.equal(204);
        const { notes } = await orderUntil("1001", () => true);
        expect(notes.at(-1)).to.include("The refund of 5.00 USDT is final");

        const address = `0x${"c".repeat(40)}`;
        for (const [place, isToSender] of [true, false].entries()) {
          const data = { ...refund.data, id: `rfd_asked${String(place)}`, address, isToSender };
          const asked = JSON.stringify({ ...event, type: "refund.requested", data });
          const signed = sign({
            id: `evt_asked${String(place)}`,
            timestampSeconds,
            body: Buffer.from(asked),
            secrets: [secret],
          });
          expect(await deliver({ body: asked, headers: { ...signed } })).to.equal(204);
          const { notes: said } = await orderUntil("1001", () => true);
          expect(said.at(-1))
            .to.include(`5.00 USDT was requested, to ${address}, `)
            .and.include(isToSender ? "the address that sent" : "not the address that sent");
        }

        // Recorded in the shop, which moves no money either.
        await shop(order("refund", { total: "5.00" }), {
          do: "refund",
          order: "1001",
          refund: "refund",
        });
        const reminder = (await look("1001")).notes.at(-1);
        expect(reminder).to.match(
          /^A refund of 5\.00.USD is recorded here\. Till moves no money\./,
        );
        expect(reminder).to.include("an address that the customer names");

        await shop(order("1008", { total: "18.00" }));
        const [, answer] = (await shop(
          { do: "set up", settings: { ...settings, url: "http://127.0.0.1:1" } },
          { do: "pay", order: "1008" },
          { do: "set up", settings },
        )) as [null, Started];
        expect(answer).to.include({ result: "failure" });
        expect(answer.message).to.include("could not be started");
        expect((await look("1008")).notes.at(-1)).to.include("no connection");
      });

      it("completes an order once while customers return and webhooks arrive at the same moment", async () => {
        await shop(order("1011", { total: "21.00" }));
        await press((await pay("1011")).redirect, "pay");
        const paid = await until(
          "invoice.paid",
          () =>
            receiver.requests.filter(
              ({ body }) =>
                body.includes('"orderId":"1011"') &&
                /"type":"invoice\.(paid|confirming)"/.test(body),
            ),
          (found) => found.length === 2,
        );
        await Promise.all([back("1011"), back("1011"), back("1011"), ...paid.map(deliver)]);
        const after = await look("1011");
        expect(after.status).to.equal("processing");
        expect(after.completions).to.have.length(1);
        expect(count(after, "is paid")).to.equal(1);
        expect(await shop({ do: "option", option: "till_lock_1011" })).to.deep.equal([null]);
      });

      it("cancels the invoice of an order that is paid by another method, and leaves its status", async () => {
        await shop(order("1012", { total: "22.00" }));
        const { redirect } = await pay("1012");
        await shop(order("1012", { method: "bacs", status: "on-hold" }), {
          do: "save",
          order: "1012",
        });
        const [invoice] = await invoicesOf("1012");
        expect(invoice).to.include({ status: "canceled" });
        const changed = await orderUntil("1012", () => true);
        expect(changed.status).to.equal("on-hold");
        expect(count(changed, "no longer waits")).to.equal(1);

        // Money that arrives all the same is for a person to look at.
        await shop(order("1013", { total: "23.00" }));
        const late = (await pay("1013")).redirect;
        await press(late, "underpay");
        await orderUntil("1013", ({ notes }) => notes.some((note) => note.includes("Part of")));
        await shop(order("1013", { method: "bacs" }), { do: "save", order: "1013" });
        expect((await invoicesOf("1013"))[0]).to.include({ status: "partially_paid" });
        await press(late, "pay");
        const both = await orderUntil("1013", ({ notes }) =>
          notes.some((note) => note.includes("is paid")),
        );
        expect(both.status).to.equal("on-hold");
        expect(both.completions).to.deep.equal([]);
        expect(count(both, "by another method now (bacs)")).to.equal(1);
        expect(redirect).not.to.equal(late);
      });

      it("cancels the invoice of a canceled order, and fails no order that a person holds", async () => {
        await shop(order("1014", { total: "24.00" }), order("1015", { total: "25.50" }));
        await pay("1014");
        const { redirect } = await pay("1015");
        await shop(order("1014", { status: "cancelled" }), { do: "save", order: "1014" });
        expect((await invoicesOf("1014"))[0]).to.include({ status: "canceled" });
        await shop(order("1015", { status: "on-hold" }));
        await press(redirect, "expire");
        const held = await orderUntil("1015", ({ notes }) =>
          notes.some((note) => note.includes("expired")),
        );
        expect(held.status).to.equal("on-hold");
      });

      it("pays, completes and cancels nothing by the copy of an order", async () => {
        await shop(order("1020", { total: "31.00" }));
        const { redirect } = await pay("1020");
        await shop(
          { do: "copy", order: "1020", to: "1021" },
          { do: "copy", order: "1020", to: "1022" },
        );
        await shop(order("1021", { status: "cancelled" }), { do: "save", order: "1021" });
        expect((await invoicesOf("1020"))[0]).to.include({ status: "open" });
        const own = await pay("1022");
        expect(own).to.include({ result: "success" });
        expect(own.redirect).not.to.equal(redirect);
        expect((await invoicesOf("1020"))[0]).to.include({ status: "open" });
        await press(redirect, "pay");
        await orderUntil("1020", ({ status }) => status === "processing");
        expect(await look("1022")).to.deep.include({ status: "pending", completions: [] });
      });

      it("gets an event again that the shop could not save", async () => {
        await shop(order("1023", { total: "32.00" }));
        const { redirect } = await pay("1023");
        await shop({ do: "set up", option: "unsaved", value: [1023] });
        await press(redirect, "expire");
        const event = await until(
          "the event",
          () => receiver.requests.slice(delivered).find(({ body }) => body.includes('"expired"')),
          (found) => found !== undefined,
        );
        expect(event && (await deliver(event))).to.equal(503);
        await shop({ do: "set up", option: "unsaved", value: [] });
        await orderUntil("1023", ({ status }) => status === "failed");
      });

      it("asks once about invoices that Till does not know, and once while Till does not answer", async () => {
        const meta = (value: string) => [
          { id: 1, key: "_till_invoice_id", value },
          { id: 2, key: "_till_current_invoice", value },
        ];
        const lost = { method: "bacs", meta: meta("inv_01kg9m8x00faxbn7f1y28z5f15") };
        await shop(order("1101", lost), { do: "save", order: "1101" });
        await shop({ do: "save", order: "1101" });
        expect(count(await look("1101"), "could not be canceled in Till")).to.equal(1);

        const both = ["1102", "1103"];
        const gone = { ...settings, url: "http://127.0.0.1:1" };
        await shop(
          ...both.map((id) => order(id, { method: "bacs", meta: meta(`inv_${id}`) })),
          { do: "set up", settings: gone },
          { do: "set up", option: "requests", value: 0 },
          ...both.map((id) => ({ do: "save", order: id })),
        );
        expect(await shop({ do: "option", option: "requests" })).to.deep.equal([1]);
        const [one, other] = ["1104", "1105"].map((id) => ({ do: "return", order: id }));
        await shop(
          order("1104", { meta: meta("inv_1104") }),
          order("1105", { meta: meta("inv_1105") }),
        );
        await shop(...[one, other, one].filter((each) => each !== undefined));
        expect(await shop({ do: "option", option: "requests" })).to.deep.equal([2]);
        await shop({ do: "set up", option: "transient till_down", value: false });
        await shop({ do: "set up", settings });
        for (const id of both) expect(count(await look(id), "no connection")).to.equal(1);
      });

      it("starts a payment whose first answer was lost before the settings changed", async () => {
        await shop(order("1104", { total: "31.00" }));
        const first = await pay("1104");
        await shop(order("1104", { meta: [] }), {
          do: "set up",
          settings: { ...settings, minutes: "90" },
        });
        const second = await pay("1104");
        expect(second).to.include({ result: "success" });
        expect(second.redirect).not.to.equal(first.redirect);
        await shop({ do: "set up", settings });
      });

      it("tells the key and the secret to no reader of the shop's REST API", async () => {
        const [told] = (await shop({ do: "rest" })) as [
          { settings: Readonly<Record<string, { value: string }>> },
        ];
        expect(told.settings["api_key"]?.value).to.equal("");
        expect(told.settings["webhook_secret"]?.value).to.equal("");
        expect(told.settings["url"]?.value).to.equal(settings["url"]);
      });

      it("gives a copied shop an id of its own, and leaves the invoices of the other one", async () => {
        const home = (value: string) => ({ do: "set up", option: "home", value });
        await shop(order("1016", { total: "26.00" }));
        const { redirect } = await pay("1016");
        await shop(home("https://copy.example"));
        const copied = await pay("1016");
        expect(copied).to.include({ result: "success" });
        expect(copied.redirect).not.to.equal(redirect);
        const invoices = await invoicesOf("1016");
        expect(invoices.map(({ status }) => status)).to.deep.equal(["open", "open"]);
        await shop(home("https://shop.example"));
      });

      it("tells customers who return how much is missing, and the way back to the payment", async () => {
        await shop(order("1017", { total: "27.00" }), order("1018", { total: "28.00" }));
        const { redirect } = await pay("1017");
        const open = await back("1017");
        expect(open.notices.join()).to.include("27.00 USDT are missing").and.include(redirect);
        expect(open.text).not.to.include("Thank you");
        await press(redirect, "expire");
        const expired = await until(
          "expired",
          () => back("1017"),
          ({ notices }) => notices.join().includes("time to pay is over"),
        );
        expect(expired.notices.join()).to.include("https://shop.example/pay?order=1017");
        expect((await look("1017")).status).to.equal("failed");

        await press((await pay("1018")).redirect, "pay");
        const paid = await until(
          "paid",
          () => back("1018"),
          ({ notices }) => notices.length === 0,
        );
        expect(paid.text).to.equal("Thank you.");
      });

      it("asks for totals with the decimals of their currency, as Till does", async () => {
        const currencies = [...currencyDecimals.keys()];
        const [decimals] = await shop({ do: "decimals", currencies });
        expect(decimals).to.deep.equal([...currencyDecimals.values()]);
        await shop(
          order("1019", { total: "1200.50", currency: "JPY" }),
          order("1020", { total: "12.345", currency: "USD" }),
          order("1021", { total: "7", currency: "KWD" }),
        );
        const total = (id: string) => ({ do: "total", order: id });
        expect(await shop(total("1019"), total("1020"), total("1021"))).to.deep.equal([
          "1201",
          "12.35",
          "7.000",
        ]);
      });

      it("checks the settings with Till, and shows no secret", async () => {
        const check = async (changes: object) =>
          (
            await shop(
              { do: "set up", settings: { ...settings, ...changes } },
              { do: "check" },
              { do: "set up", settings },
            )
          )[1] as Checked;
        const good = await check({});
        expect(good.errors).to.deep.equal({});
        expect(good.facts.join()).to.include(organization);
        expect(good.choices["network"]).to.have.property("sandbox");
        expect(good.secret).not.to.include(settings["api_key"]);
        const faults = async (changes: object) => Object.keys((await check(changes)).errors);
        expect(await faults({ url: "http://127.0.0.1:1" })).to.deep.equal(["url"]);
        expect(await faults({ api_key: "till_test_no" })).to.deep.equal(["api_key"]);
        expect(await faults({ webhook_secret: "whsec_no" })).to.deep.equal(["webhook_secret"]);
        expect(await faults({ network: "moon" })).to.deep.equal(["network"]);
        expect(await faults({ token: "TEA" })).to.deep.equal(["token"]);
        expect(await faults({ token: "" })).to.deep.equal(["token"]);
        expect(await faults({ token: "", network: "" })).to.deep.equal(["token"]);
        expect(await faults({ minutes: "1" })).to.deep.equal(["minutes"]);
        const { app } = served;
        const path = `/v1/organizations/${organization}/api-keys`;
        const body = { name: "links", scopes: ["links"] };
        const made = await expectStatus(app.request("POST", path, { key, body }), 201);
        expect(await faults({ api_key: made.body["secret"] })).to.deep.equal(["api_key"]);
      });

      it("offers itself to the checkout block, and declares that orders may be in any storage", async () => {
        expect((await shop({ do: "block" }))[0]).to.deep.equal({
          name: "till",
          isActive: true,
          handles: ["till-blocks"],
          data: {
            title: "",
            description: "",
            accepted: "USDT (Sandbox)",
            supports: ["products"],
          },
          declared: { custom_order_tables: true, cart_checkout_blocks: true },
        });
      });
    },
    { settings: { TILL_SANDBOX_BLOCK_MS: "200", TILL_WEBHOOK_ALLOW_CIDRS: "127.0.0.1/32" } },
  );
});
