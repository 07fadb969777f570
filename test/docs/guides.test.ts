// The guides of the sandbox: each row of their tables is done by its commands, and has the result that it names.
import { readFile } from "node:fs/promises";
import { expect } from "chai";
import type { Till } from "../../src/client/index.ts";
import { issueInvoice } from "../scenarios/way.ts";
import { openClient } from "../scenarios/client.ts";
import { xpubs } from "../support/merchants.ts";
import {
  makeInstallation,
  type Installation,
  type RunningServer,
} from "../support/programs/program.ts";
import { until } from "../support/until.ts";

const guides = new URL("../../docs/guides/", import.meta.url);
const read = (name: string) => readFile(new URL(`${name}.md`, guides), "utf8");

/** A row of a table whose second cell has commands. */
interface Row {
  readonly title: string;
  readonly commands: readonly string[];
  readonly rest: readonly string[];
}

interface ChainStatus {
  readonly data: readonly { readonly tip: { readonly blockHash: string } | null }[];
}

function rowsOf(guide: string): readonly Row[] {
  return [...guide.matchAll(/^\| (.+) \|$/gm)].flatMap(([, line = ""]) => {
    const [title = "", commands = "", ...rest] = line.split(" | ").map((cell) => cell.trim());
    const found = [...commands.matchAll(/`till ([^`]+)`/g)].map(([, words = ""]) => words);
    return found.length === 0 ? [] : [{ title, commands: found, rest }];
  });
}

const codes = (cell = "") => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);

describe("the guides of the sandbox", () => {
  let till: Installation;
  let server: RunningServer;
  let shop: { readonly till: Till; readonly organizationId: string };

  async function command(words: readonly string[], input?: string): Promise<string> {
    const { status, stdout, stderr } = await till.run(words, input);
    expect(status, `till ${words.join(" ")}: ${stderr}`).to.equal(0);
    return stdout;
  }

  before(async function () {
    this.timeout(120_000);
    till = await makeInstallation({
      TILL_NETWORKS: "sandbox",
      TILL_SANDBOX_BLOCK_MS: "0",
      TILL_VERIFICATION: "off",
      TILL_RATE_LIMIT_SCALE: "0",
    });
    const admin = ["--admin-email", "admin@example.com", "--admin-name", "Admin"];
    const made = await command(
      ["init", ...admin, "--organization", "Platform", "--password-stdin", "--json"],
      "a password of the tests 1\n",
    );
    const { organization } = JSON.parse(made) as { organization: { id: string } };
    const key = ["key", "create", "--organization", organization.id, "--name", "shop"];
    const apiKey = await command([...key, "--scopes", "read,write", "--json"]);
    const { secret } = JSON.parse(apiKey) as { secret: string };
    server = await till.serve();
    const client = openClient({ url: server.url, apiKey: secret });
    shop = { till: client, organizationId: organization.id };
    const wallet = { label: "Till", network: "sandbox", xpub: xpubs.first };
    await client.wallets.create(organization.id, wallet);
  });
  after(() => till.remove());

  async function hasRead(blockHash: string): Promise<void> {
    await until(
      "a scan of the newest block",
      async () => JSON.parse(await command(["chain", "status", "--json"])) as ChainStatus,
      ({ data: [network] }) => network?.tip?.blockHash === blockHash,
    );
  }

  /** Does a row with a new invoice, and returns the invoice once it has the status and the exception. */
  async function done({ title, commands }: Row, status: string, exception: string) {
    const { id } = await issueInvoice(shop, "sandbox");
    for (const words of commands) {
      const output = await command([...words.replace("inv_…", id).split(" "), "--json"]);
      const { blockHash } = JSON.parse(output) as { readonly blockHash?: string };
      // A reader sees the effect of a block before typing the next command.
      if (blockHash !== undefined) await hasRead(blockHash);
    }
    return until(
      `${title}: ${status}, ${exception}`,
      () => shop.till.invoices.get(shop.organizationId, id),
      (invoice) => invoice.status === status && invoice.exception === exception,
      10_000,
    );
  }

  async function eventsOf(id: string): Promise<readonly string[]> {
    const types: string[] = [];
    for await (const { type, data } of shop.till.webhooks.listEvents(shop.organizationId)) {
      if (type.startsWith("invoice.") && "id" in data && data.id === id) types.push(type);
    }
    return types.slice(1);
  }

  it("lead each odd payment to its status, its exception and its events", async function () {
    this.timeout(180_000);
    for (const row of rowsOf(await read("odd-payments"))) {
      const [status = "", exception = "", ...events] = row.rest.flatMap(codes);
      const { id } = await done(row, status, exception);
      expect(await eventsOf(id), row.title).to.deep.equal(events);
    }
  });

  it("name every command of the sandbox, each with arguments that it takes", async function () {
    this.timeout(120_000);
    const guide = await read("sandbox");
    const reference = await readFile(new URL("../operating/cli.md", guides), "utf8");
    for (const [, name = ""] of reference.matchAll(/^### (till sandbox [a-z]+)$/gm)) {
      expect(guide).to.contain(`\`${name} `);
    }
    // The test of the odd payments runs the commands of payers.
    const { id } = await issueInvoice(shop, "sandbox");
    for (const { commands } of rowsOf(guide)) {
      for (const words of commands) await command(words.replace("inv_…", id).split(" "));
    }
  });
});
