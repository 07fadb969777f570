// Two `till serve` on one PostgreSQL database watch the same network, each through its own provider, which shows which
// of them reads. Every transfer is credited once; when the reading server is killed, the other takes over.
import { expect } from "chai";
import { second } from "../../src/kernel/clock.ts";
import { parseAddress } from "../../src/platform/chain/evm/addresses.ts";
import { openForReading } from "../../src/platform/database/open.ts";
import { leases } from "../../src/platform/jobs/table.ts";
import type { Till } from "../../src/client/index.ts";
import { openClient } from "./client.ts";
import { describeOnPostgres } from "../support/store/describe-on-postgres.ts";
import { makeFakeChain, type FakeChain } from "../support/chain/fake-chain.ts";
import { startFakeNode, type FakeNode } from "../support/chain/fake-node.ts";
import { testNetworks, xpubs } from "../support/merchants.ts";
import { dropDatabase, freshDatabase } from "../support/store/postgres.ts";
import {
  makeInstallation,
  type Installation,
  type RunningServer,
} from "../support/programs/program.ts";
import { until } from "../support/until.ts";
import { issueInvoice } from "./way.ts";

/** The longest that other servers wait for the work of a killed one, in milliseconds. */
const leaseMostMs = 30 * second;
const blockMs = second;
const blocksBefore = 100;

const settings = {
  TILL_NETWORKS: "ethereum",
  TILL_ETHEREUM_CONFIRMATIONS: "2",
  TILL_ETHEREUM_POLL_MS: "500",
  TILL_VERIFICATION: "off",
  TILL_RATE_LIMIT_SCALE: "0",
};

describeOnPostgres("two servers on one database", () => {
  let url: string;
  let till: Installation;
  let chain: FakeChain;
  let miner: NodeJS.Timeout;
  let key: string;
  let organizationId: string;
  const nodes: FakeNode[] = [];
  const servers: RunningServer[] = [];

  async function serve(): Promise<void> {
    const node = await startFakeNode(chain);
    nodes.push(node);
    servers.push(await till.serve({ TILL_ETHEREUM_RPC_URLS: node.url }));
  }

  /** The client of the server that was started last and still runs. */
  function shop(): Till {
    return openClient({ url: servers.at(-1)?.url ?? "", apiKey: key });
  }

  before(async () => {
    const contract = testNetworks("ethereum").get("ethereum")?.tokens[0]?.contract ?? "";
    const startAt = (Math.floor(Date.now() / second) - blocksBefore) * second;
    chain = makeFakeChain({ chainId: 1, contract, startAt, blockMs, finalityLag: 3 });
    chain.mine([], blocksBefore);
    // As many blocks as are due, because the chain continues during a pause of this process.
    miner = setInterval(() => {
      while (chain.block(chain.height() + 1).time <= Date.now()) chain.mine();
    }, blockMs / 4);
    url = await freshDatabase();
    till = await makeInstallation(settings, { url });
    const made = await till.run(
      [
        ...["init", "--admin-email", "admin@example.com", "--admin-name", "Admin"],
        ...["--organization", "Platform", "--password-stdin", "--json"],
      ],
      "a password of the tests 1\n",
    );
    expect(made.status, made.stderr).to.equal(0);
    const { organization } = JSON.parse(made.stdout) as { organization: { id: string } };
    organizationId = organization.id;
    const created = await till.run([
      ...["key", "create", "--organization", organization.id],
      ...["--name", "shop", "--scopes", "read,write", "--json"],
    ]);
    key = (JSON.parse(created.stdout) as { secret: string }).secret;
    await serve();
    await serve();
    const wallet = { label: "Till", network: "ethereum", xpub: xpubs.first };
    await shop().wallets.create(organizationId, wallet);
  });
  after(async () => {
    clearInterval(miner);
    await till.remove();
    await Promise.all(nodes.map((node) => node.stop()));
    await dropDatabase(url);
  });

  async function issue(): Promise<{ id: string; address: string }> {
    const invoice = await issueInvoice({ till: shop(), organizationId }, "ethereum");
    const parsed = parseAddress(invoice.walletAddress ?? "");
    if (!parsed.ok) throw new Error(parsed.message);
    return { id: invoice.id, address: parsed.address };
  }

  async function payNew(count: number): Promise<string[]> {
    const invoices = [];
    for (let made = 0; made < count; made += 1) invoices.push(await issue());
    const transfers = invoices.map(({ address }) => ({ to: address, amount: 25_000_000n }));
    chain.place(chain.height() + 2, transfers);
    return invoices.map(({ id }) => id);
  }

  async function expectPaidOnce(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      await until(
        "a paid invoice",
        () => shop().invoices.get(organizationId, id),
        ({ status }) => status === "paid",
      );
      const payments = await shop().payments.list(organizationId, { invoiceId: id });
      expect(payments.data).to.have.length(1);
    }
  }

  const logsAsked = (node: FakeNode | undefined) => node?.counts().methods["eth_getLogs"] ?? 0;

  it("credit every transfer once with one of them reading, and continue when that one is killed", async () => {
    await expectPaidOnce(await payNew(5));
    for (const node of nodes) node.resetCounts();
    await until(
      "a look",
      () => nodes.map(logsAsked),
      (asked) => Math.max(...asked) > 3,
    );
    const asked = nodes.map(logsAsked);
    expect(asked.filter((count) => count > 0)).to.have.length(1);

    const reader = asked.findIndex((count) => count > 0);
    const ids = await payNew(5);
    await servers[reader]?.kill();
    servers.splice(reader, 1);
    // The leases of the killed one end by then.
    const store = await openForReading({ url });
    const held = await store.find(leases, "");
    await store.close();
    const end = Math.max(...held.map((lease) => lease.until));
    expect(end - Date.now()).to.be.at.most(leaseMostMs);
    const other = nodes[1 - reader];
    await until(
      "a look of the other",
      () => logsAsked(other),
      (count) => count > 0,
    );
    await expectPaidOnce(ids);

    const audit = await till.run(["chain", "audit", "--network", "ethereum", "--json"]);
    expect(audit.status, audit.stderr).to.equal(0);
    expect(JSON.parse(audit.stdout)).to.deep.include({ isComplete: true, blocksUnread: 0 });
  });
});
