// A kind of network that Till does not have: one value, and the line that registers it. Everything else is the program.
import { expect } from "chai";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { networkKinds } from "../../../src/platform/chain/kinds.ts";
import type { NetworkKind } from "../../../src/platform/chain/networks.ts";
import { makeFakeChain, type FakeChain } from "../../support/chain/fake-chain.ts";
import {
  approvedMerchant,
  expectStatus,
  startApp,
  type Merchant,
  type TestApp,
} from "../../support/app.ts";
import { anyStore, type TestStore } from "../../support/store/stores.ts";
import { until } from "../../support/until.ts";

const blockMs = 1_000;
let chain: FakeChain;

/** Addresses are six words, hashes are written in capitals after a sign, and there are no payment URIs. */
const address = "alder-birch-cedar-elder-hazel-maple";
const contract = "coin-coin-coin-coin-coin-coin";
const isAddress = (text: string) => /^[a-z]+(-[a-z]+){5}$/.test(text);

const woodKind: NetworkKind = {
  isSimulated: false,
  finalityTags: ["rooted"],
  parseAddress(text) {
    const words = text.trim().replace(/^wood:/, "");
    return isAddress(words)
      ? { ok: true, address: words }
      : { ok: false, fault: "malformed", message: "is not six words: copy it from the wallet" };
  },
  formatAddress: (words) => `wood:${words}`,
  addressPrefix: "wood:",
  parseTransactionHash: (text) => /^#([0-9A-F]{64})$/.exec(text.trim())?.[1]?.toLowerCase() ?? null,
  formatTransactionHash: (hash) => `#${hash.toUpperCase()}`,
  formatBlockHash: (hash) => `#${hash.toUpperCase()}`,
  looksLikeSecret: (text) => text.startsWith("bark "),
  extendedKeys: null,
  paymentUri: ({ to }) => `wood:${to}`,
  browserWallets: null,
  connect: ({ id }, { endpoints }) =>
    endpoints.map(() => ({ client: { ...chain.client, network: id }, budget: null })),
};

const table = `networks:
  wood:
    title: Woodnet
    tokenStandard: leaf
    kind: wood
    chainId: 77
    addressFamily: wood
    blockTimeMs: ${String(blockMs)}
    confirmations: 3
    pollMs: 50
    windowBlocks: 16
    maxLogRange: 1000
    finality: { tag: rooted, lagBlocks: 2 }
    providers: [{ url: "https://wood.example" }]
    explorer: { transaction: "https://wood.example/tx/{hash}", address: null }
    tokens:
      USDT: { title: Tether USD, contract: "wood:${contract}", decimals: 6, pegs: [USD], dust: "0.01" }
`;

describe("a kind of network that is added", () => {
  before(() => {
    networkKinds["wood"] = woodKind;
  });
  // The verification of the store, which follows its suite, needs the kind.
  after(() => {
    delete networkKinds["wood"];
  });

  anyStore("to the program", suite);
});

function suite(store: TestStore): void {
  let app: TestApp;
  let folder: string;
  let shop: Merchant;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "till wood "));
    await writeFile(join(folder, "networks.yaml"), table);
    chain = makeFakeChain({
      startAt: Date.now() - 100 * blockMs,
      blockMs,
      finalityLag: 2,
      chainId: 77,
    });
    chain.mine([], 100);
    app = await startApp({
      place: await store.place("migrated"),
      settings: { TILL_NETWORKS: "wood", TILL_NETWORKS_FILE: join(folder, "networks.yaml") },
    });
    shop = await approvedMerchant(app);
  });
  after(async () => {
    await app.stop();
    await rm(folder, { recursive: true });
  });

  const request = (method: string, path: string, body?: unknown) =>
    app.request(method, `/v1/organizations/${shop.organizationId}${path}`, { key: shop.key, body });

  it("receives a payment by its own addresses, hashes and nodes, up to the payer's receipt", async () => {
    const wallet = { label: "Till", network: "wood", address: `wood:${address}` };
    await expectStatus(request("POST", "/wallets", wallet), 201);
    const terms = { amount: "25.00", settlementCurrency: "USD", tokenSymbol: "USDT" };
    const made = await until(
      "a network that is read",
      () => request("POST", "/invoices", { ...terms, network: "wood" }),
      ({ status }) => status === 201,
    );
    const checkoutId = made.body["checkoutId"] as string;
    const page = () => fetch(`${app.url}/pay/${checkoutId}`).then((answer) => answer.text());
    const session = async () =>
      (await expectStatus(app.request("GET", `/v1/checkout/${checkoutId}`), 200)).body;
    expect(await session()).to.deep.include({ qrCode: `wood:${address}` });
    expect((await page()).replaceAll(/<[^>]+>/g, "")).to.contain(`wood:${address}`);

    chain.mine([{ transaction: "leaf", contract, to: address, amount: 25_000_000n }], 4);
    const paid = await until(
      "a paid invoice",
      () => request("GET", `/invoices/${made.body["id"] as string}`),
      ({ body }) => body["status"] === "paid",
    );
    const [hash] = paid.body["transactionHashes"] as string[];
    expect(hash).to.match(/^#[0-9A-F]{64}$/);
    const found = await request(
      "GET",
      `/invoices?transactionHash=${encodeURIComponent(hash ?? "")}`,
    );
    expect((found.body["data"] as { id: string }[]).map(({ id }) => id)).to.deep.equal([
      made.body["id"],
    ]);
    await until("the receipt on the page", page, (html) =>
      html.includes(`https://wood.example/tx/${hash ?? ""}`),
    );
  });

  it("refuses the addresses, keys and secrets of other networks", async () => {
    for (const text of ["0x868155088756156b8E18550A345d37ab5BFda311", "bark and roots"]) {
      const answer = await request("POST", "/wallets", {
        label: "W",
        network: "wood",
        address: text,
      });
      expect(answer.status, text).to.equal(400);
      expect(answer.text).not.to.contain(text);
    }
  });
}
