// The first page that an operator follows is replayed, from an empty folder to the first invoice.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { second } from "../../../src/kernel/clock.ts";
import { password, startApp, type TestApp } from "../../support/app.ts";
import { makeFakeChain } from "../../support/chain/fake-chain.ts";
import { startFakeNode, type FakeNode } from "../../support/chain/fake-node.ts";
import { till } from "../../support/programs/till.ts";
import { secret } from "../../support/secret.ts";
import { until } from "../../support/until.ts";
import { commandsOf, pagesWithCommands } from "./commands-of-pages.ts";

/** An address of EIP-55's own examples. */
const address = "0x52908400098527886E0F7030069857D2E4169EE7";

describe("the page about the first real network", () => {
  let folder: string;
  let node: FakeNode;
  let server: TestApp | null = null;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "till first "));
    const contract = "fde4c96c8593536e31f229ea8f37b2ada2699bb2";
    const startAt = Math.floor(Date.now() / second) * second - 100 * 2 * second;
    const chain = makeFakeChain({ chainId: 8_453, contract, startAt, blockMs: 2 * second });
    chain.mine([], 100);
    node = await startFakeNode(chain);
  });
  after(async () => {
    await server?.stop();
    await node.stop();
    await rm(folder, { recursive: true });
  });

  it("leads from an empty folder to an invoice with a link, by its commands alone", async () => {
    const page = pagesWithCommands().find(({ path }) => path.endsWith("first-network.md"));
    const text = page?.text.split("## From nothing to the first invoice")[1]?.split("\n## ")[0];
    const [, exported = ""] = /^export (TILL_DATA_DIR.*)$/m.exec(text ?? "") ?? [];
    const env: Record<string, string> = {
      ...Object.fromEntries(exported.split(" ").map((pair) => pair.split("=") as [string, string])),
      TILL_DATA_DIR: folder,
      TILL_SECRET: secret,
      TILL_BASE_RPC_URLS: node.url,
      TILL_RATES: "off",
    };
    const commands = commandsOf({ path: "", text: text ?? "" });
    expect(commands.length).to.be.above(5);
    for (const { words } of commands) {
      if (words[0] === "serve") {
        const place = { sqliteFile: join(folder, "till.db") };
        const { TILL_NETWORKS = "", TILL_BASE_URL = "", TILL_BASE_RPC_URLS = "" } = env;
        server = await startApp({
          place,
          settings: { TILL_NETWORKS, TILL_BASE_URL, TILL_BASE_RPC_URLS },
        });
        continue;
      }
      const given = words.map((word) => (word === "$ADDRESS" ? address : word));
      // At a terminal, the operator answers.
      const run = () => till([...given, "--yes"], { env, stdin: `${password}\n` });
      // The page says: once the network is read.
      const isRead = ({ code }: { code: number }) => code === 0;
      const { code, stdout, stderr } = await (given[1] === "create"
        ? until("an invoice", run, isRead)
        : run());
      expect(code, `till ${given.join(" ")}: ${stderr}`).to.equal(0);
      if (given[1] === "create") expect(stdout).to.include("https://pay.example.com/");
      if (given[1] === "list") expect(stdout).to.include("order-1");
    }
  });
});
