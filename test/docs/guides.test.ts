// The guides of the sandbox: each row of their tables is done by its commands, and has the result that it names.
import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { invoiceStateOf, noPayments, type Terms } from "../../src/features/invoices/rules.ts";
import { issueInvoice } from "../scenarios/way.ts";
import { until } from "../support/until.ts";
import { openSandboxShop, type SandboxShop } from "./sandbox-shop.ts";

const guides = new URL("../../docs/guides/", import.meta.url);
const read = (name: string) => readFile(new URL(`${name}.md`, guides), "utf8");

/** A row of a table whose second cell has commands of the sandbox. */
interface Row {
  readonly title: string;
  readonly commands: readonly string[];
  readonly rest: readonly string[];
}

function rowsOf(guide: string): readonly Row[] {
  return [...guide.matchAll(/^\| (.+) \|$/gm)].flatMap(([, line = ""]) => {
    const [title = "", commands = "", ...rest] = line.split(" | ").map((cell) => cell.trim());
    const found = [...commands.matchAll(/`till ([^`]+)`/g)].map(([, words = ""]) => words);
    const isPlayed = found.some((words) => words.startsWith("sandbox "));
    return isPlayed ? [{ title, commands: found, rest }] : [];
  });
}

const codes = (cell = "") => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);

describe("the guide of odd payments", () => {
  /** Every status and exception that the rules give, with the terms and totals that lead to it. */
  function combinations(): ReadonlyMap<string, bigint> {
    const [payableAmount, dueAmount, expiresAt] = [100n, 98n, 1_000_000];
    const issued = {
      amount: payableAmount,
      payableAmount,
      askedAmount: payableAmount,
      excessSlack: 0n,
      dueAmount,
      wholeAmount: payableAmount,
      expiresAt,
    };
    const found = new Map([["draft none", 0n]]);
    for (const canceledAt of [null, 1])
      for (const isOver of [false, true])
        for (const seen of [0n, 50n, 98n, 100n, 107n])
          for (const confirmed of [0n, 50n, 98n, 100n, 107n])
            for (const [isLate, isReverted] of marks) {
              if (confirmed > seen) continue;
              // Payments are late after the deadline or a cancellation only.
              if (isLate && !isOver && canceledAt === null) continue;
              const terms: Terms = { status: "open", issued, canceledAt };
              const totals = { ...noPayments, seen, confirmed, isLate, isReverted };
              const state = invoiceStateOf(terms, totals, isOver ? expiresAt + 1 : 0);
              const { status, exception } = state;
              const owed =
                status === "paid" ? (seen > payableAmount ? seen - payableAmount : 0n) : seen;
              const isEnded = ["paid", "expired", "canceled"].includes(status);
              const name = `${status} ${exception}`;
              const most = found.get(name) ?? 0n;
              found.set(name, isEnded && owed > most ? owed : most);
            }
    return found;
  }
  const marks = [
    [false, false],
    [true, false],
    [false, true],
    [true, true],
  ] as const;

  it("has a row for every status and exception, and names an amount wherever money can be owed", async () => {
    const guide = await read("odd-payments");
    const table = /## Every combination\n([^]+?)\n\n-/.exec(guide)?.[1] ?? "";
    const rows = [...table.matchAll(/^\| (.+) \|$/gm)].flatMap(([, line = ""]) => {
      const [status = "", exceptions = "", , owed = ""] = line.split(" | ");
      return codes(exceptions).map((exception) => [`${codes(status).join("")} ${exception}`, owed]);
    });
    const owedOf = new Map(rows.map(([name = "", owed = ""]) => [name, owed]));
    // The first row is the heading.
    owedOf.delete("status exception");
    const expected = combinations();
    expect([...owedOf.keys()].sort()).to.deep.equal([...expected.keys()].sort());
    for (const [name, owed] of expected) {
      const words = owedOf.get(name) ?? "";
      if (owed > 0n) expect(words, name).to.match(/^`(?:excessAmount|paidTokenAmount)`/);
    }
  });
});

describe("the guides of the sandbox", () => {
  let shop: SandboxShop;
  before(async () => {
    shop = await openSandboxShop();
  });
  after(() => shop.remove());

  /** Does a row with a new invoice, and returns the invoice once it has the status and the exception. */
  async function done({ title, commands }: Row, status: string, exception: string) {
    const { id } = await issueInvoice(shop, "sandbox");
    const read = () => shop.till.invoices.get(shop.organizationId, id);
    for (const words of commands) {
      await shop.play([words.replace("inv_…", id).split(" ")]);
      // Providers are asked once more before a payment is confirmed, after its blocks were read.
      if (words.endsWith("mine 3")) {
        await until(`${title}: confirmed`, read, (invoice) => invoice.status !== "confirming");
      }
    }
    return until(
      `${title}: ${status}, ${exception}`,
      read,
      (invoice) => invoice.status === status && invoice.exception === exception,
    );
  }

  async function eventsOf(id: string): Promise<readonly string[]> {
    const types: string[] = [];
    for await (const { type, data } of shop.till.webhooks.listEvents(shop.organizationId)) {
      if (type.startsWith("invoice.") && "id" in data && data.id === id) types.push(type);
    }
    return types.slice(1);
  }

  it("lead each odd payment to its status, its exception and its events", async () => {
    const rows = rowsOf(await read("sandbox")).filter(({ rest }) => rest.length > 1);
    expect(rows.length).to.be.above(15);
    for (const row of rows) {
      const [status = "", exception = "", ...events] = row.rest.flatMap(codes);
      const { id, ...invoice } = await done(row, status, exception);
      // The last one may tell of a confirmation that comes after the status.
      const told = await until(
        `${row.title}: its events`,
        () => eventsOf(id),
        (types) => types.length >= events.length,
      );
      expect(told, row.title).to.deep.equal(events);
      const { paidTokenAmount: sent, payableAmount: asked } = invoice;
      const excess = status === "paid" ? Number(sent) - Number(asked) : 0;
      expect(invoice.excessAmount, row.title).to.equal(excess.toFixed(2));
    }
  });

  it("find what is owed on the invoice, also for a payment that was rejected, until it is refunded", async () => {
    const { till: client, organizationId } = shop;
    const { id } = await issueInvoice(shop, "sandbox");
    const owedNow = async () => (await client.invoices.get(organizationId, id)).owedAmount;

    await client.invoices.cancel(organizationId, id);
    await shop.command(["sandbox", "pay", id]);
    await shop.command(["sandbox", "mine", "35"]);
    const [payment] = await until(
      "a payment in review",
      async () => (await client.payments.list(organizationId, { invoiceId: id })).data,
      ([found]) => found?.status === "review",
    );
    expect(await owedNow()).to.equal("0.00");
    const decision = ["--organization", organizationId, "--yes"];
    await shop.command(["payments", "reject", payment?.id ?? "", ...decision]);
    expect(await owedNow()).to.equal("25.00");

    const address = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
    const refund = await until(
      "a refund of the verified payment",
      () =>
        client.payments
          .createRefund(organizationId, { paymentId: payment?.id ?? "", amount: "10.00", address })
          .catch(() => null),
      (made) => made !== null,
      30_000,
    );
    expect(await owedNow()).to.equal("25.00");
    const from = ["--from", payment?.toAddress ?? "", "--json"];
    const sent = JSON.parse(await shop.command(["sandbox", "send", address, "10.00", ...from])) as {
      readonly transactionHash: string;
    };
    await shop.command(["refund", "send", refund?.id ?? "", sent.transactionHash, "--yes"]);
    expect(await owedNow()).to.equal("15.00");
  });

  it("name every command of the sandbox, each with arguments that it takes", async () => {
    const guide = await read("sandbox");
    const reference = await readFile(new URL("../operating/cli.md", guides), "utf8");
    for (const [, name = ""] of reference.matchAll(/^### (till sandbox [a-z]+)$/gm)) {
      expect(guide).to.match(new RegExp(`\`${name}[ \`]`));
    }
    // The test of the odd payments runs the commands of payers, whose rows have a status.
    const others = rowsOf(guide).filter(({ rest }) => rest.length === 0);
    const { id } = await issueInvoice(shop, "sandbox");
    await shop.command(["sandbox", "late", id]);
    for (const { commands } of others) {
      // A reorganization needs a payment in a block.
      if (commands.some((words) => words.includes("reorg inv_…"))) {
        await shop.play([
          ["sandbox", "pay", id],
          ["sandbox", "mine", "1"],
        ]);
      }
      for (const words of commands) await shop.command(words.replace("inv_…", id).split(" "));
    }
  });
});
