// A wallet in the page pays an invoice with one tap. It signs on a real EVM node with USDT at its real address; TRON's is
// behind a front that answers like java-tron, and its tronWeb reaches a node from the page, as the page's policy allows.
import { expect } from "chai";
import { evmKind } from "../../../../src/platform/chain/evm/kind.ts";
import { tronKind } from "../../../../src/platform/chain/tron/kind.ts";
import { startApp, type TestApp } from "../../../support/app.ts";
import { startEthereumLab, startTronLab, type ChainLab } from "../../../support/chain/chain-lab.ts";
import { describeInBrowser } from "../../../support/suites/describe-in-browser.ts";
import { describeOnAnvil } from "../../../support/suites/describe-on-anvil.ts";
import { startReceiver, type Receiver } from "../../../support/receiver.ts";
import { anyStore } from "../../../support/store/stores.ts";
import { until } from "../../../support/until.ts";
import { checkout, issueInvoice, openShop } from "../../../scenarios/way.ts";
import { evmWallet, tronWallet } from "./injected-wallets.ts";

const receiving = "1234567890abcdef1234567890abcdef12345678";
/** transfer(receiving, 25 USDT) */
const data = `a9059cbb${receiving.padStart(64, "0")}${(25_000_000).toString(16).padStart(64, "0")}`;
const wallets = { ethereum: evmWallet, tron: tronWallet } as const;
const kinds = { ethereum: evmKind, tron: tronKind } as const;

describeOnAnvil("on a real chain", () => {
  anyStore("paying with one tap", (store) => {
    for (const network of ["ethereum", "tron"] as const) {
      describeInBrowser(network, (browser) => {
        let lab: ChainLab;
        let receiver: Receiver;
        let app: TestApp;
        before(async () => {
          lab = await (network === "tron"
            ? startTronLab()
            : startEthereumLab({ slotsInAnEpoch: 4 }));
          await lab.mine(40);
          receiver = await startReceiver();
          const name = network.toUpperCase();
          app = await startApp({
            place: await store.place("migrated"),
            settings: {
              TILL_NETWORKS: network,
              [`TILL_${name}_RPC_URLS`]: lab.providerUrl,
              [`TILL_${name}_POLL_MS`]: "100",
              TILL_WEBHOOK_ALLOW_CIDRS: "127.0.0.1/32",
            },
          });
        });
        after(async () => {
          await app.stop();
          await receiver.close();
          await lab.stop();
        });

        it("asks for one transaction, the transfer, and the invoice is paid", async () => {
          const kind = kinds[network];
          const shop = await openShop(
            app,
            { network, address: kind.formatAddress(receiving) },
            receiver,
          );
          const invoice = await issueInvoice(shop, network);
          const payer = `0x${lab.payers[0] ?? ""}`;
          const sent: Record<string, unknown>[] = [];
          const send = async (transaction: Record<string, string>) => {
            sent.push(transaction);
            const { to = "", data: given = "" } = transaction;
            return lab.anvil.send({ from: payer, to, data: given });
          };
          /** The node of the wallet, which signs too. */
          const node = async (method: string, params: unknown): Promise<unknown> => {
            if (method === "eth_requestAccounts") return [payer];
            if (method === "eth_sendTransaction")
              return send((params as [Record<string, string>])[0]);
            return lab.anvil.rpc(method, params as unknown[]);
          };
          const context = await browser().newContext();
          const complaints: string[] = [];
          try {
            const page = await context.newPage();
            page.on("console", (message) => {
              if (message.type() === "error") complaints.push(message.text());
            });
            page.on("pageerror", (error) => complaints.push(String(error)));
            await page.exposeFunction("node", node);
            await page.addInitScript(wallets[network]());
            if (network === "ethereum") {
              await page.addInitScript("wallet.answer = (method, params) => node(method, params);");
            } else {
              // Its HTTP interface, which tronWeb calls from the page.
              await page.route("https://api.trongrid.io/wallet/*", async (route) => {
                const path = decodeURIComponent(route.request().url().split("/").at(-1) ?? "");
                const body = route.request().postDataJSON() as Record<string, string>;
                const json = await tronNode(lab, path, body, send);
                const headers = { "Access-Control-Allow-Origin": "*" };
                await route.fulfill({ json, headers });
              });
              const owner = tronKind.formatAddress(lab.payers[0] ?? "");
              await page.addInitScript(`
                wallet.payer = ${JSON.stringify(owner)};
                wallet.node = async (path, body) => (await fetch(
                  "https://api.trongrid.io/wallet/" + encodeURIComponent(path),
                  { method: "POST", body: JSON.stringify(body ?? {}) },
                )).json();`);
            }
            await page.goto(`${app.url}/pay/${invoice.checkoutId}`);
            await page.click("#wallet-buttons button");
            await page.waitForSelector("#checkout[data-state=confirming]");
            await lab.mine(network === "tron" ? 19 : 12);
            await page.waitForSelector("#checkout[data-state=paid]");
          } finally {
            await context.close();
          }
          expect(complaints).to.deep.equal([]);
          expect(sent).to.have.length(1);
          expect(sent[0]?.["to"]).to.match(new RegExp(`^0x${lab.tokens.USDT}$`, "i"));
          expect(sent[0]?.["data"]).to.equal(`0x${data}`);
          if (network === "ethereum") expect(sent[0]).to.include({ chainId: "0x1", value: "0x0" });
          await until(
            "the hash that the page submitted, counted",
            () => checkout(app, invoice),
            ({ submittedTransactions: [one] }) => one?.result === "counted",
          );
        });
      });
    }
  });
});

/** Answers as a TRON node's HTTP interface, from the chain of an EVM node. */
async function tronNode(
  lab: ChainLab,
  path: string,
  body: Readonly<Record<string, string>>,
  send: (transaction: Record<string, string>) => Promise<string>,
): Promise<unknown> {
  const selectors: Record<string, string> = {
    "decimals()": "313ce567",
    "balanceOf(address)": "70a08231",
  };
  const contract = `0x${(body["contract_address"] ?? body["contract"])?.slice(2) ?? ""}`;
  if (path === "getblock") return { blockID: `${"0".repeat(56)}${lab.chainId.toString(16)}` };
  if (path === "sign") {
    // The key of the wallet is the node's: it signs what it sends.
    return (await send({ to: contract, data: `0x${body["data"] ?? ""}` })).slice(2);
  }
  if (path === "broadcast") return { result: true };
  const call = { to: contract, data: `0x${selectors[path] ?? ""}${body["data"] ?? ""}` };
  return lab.anvil.rpc("eth_call", [call, "latest"]);
}
