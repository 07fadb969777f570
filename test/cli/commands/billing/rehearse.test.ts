// `till billing rehearse --months`, as an operator types it.
import { readdir } from "node:fs/promises";
import { expect } from "chai";
import { credits, subscriptions } from "../../../../src/features/billing/table.ts";
import { boundary } from "../../../../src/features/billing/periods.ts";
import { day } from "../../../../src/kernel/clock.ts";
import { createIds, type Id } from "../../../../src/kernel/id.ts";
import { systemRandom } from "../../../../src/platform/secrets/tokens.ts";
import { subscription } from "../../../features/billing/balances/balance-fixture.ts";
import { xpubOf } from "../../../support/merchants.ts";
import { dumpStore } from "../../../support/store/dump.ts";
import { until } from "../../../support/until.ts";
import { till, useFolders, useProcesses } from "../../../support/programs/till.ts";
import { context, makeDesk, type DeskStore } from "../../billing-operator.ts";

type Sum = Readonly<Record<string, string | number | null>>;

interface Document {
  readonly months: number;
  readonly payments: string;
  readonly organizationId: string | null;
  readonly subscriptions: number;
  readonly invoices: readonly Readonly<Record<string, string>>[];
  readonly events: readonly { readonly event: string; readonly organizationName: string }[];
  readonly failures: readonly unknown[];
  readonly sums: readonly Sum[];
  readonly totals: readonly Sum[];
}

const settings = { TILL_NETWORKS: "sandbox", TILL_RATES: "off" };
const amounts = ["subtotal", "discounts", "credits", "total", "paid", "carried", "unpaid"];

describe("till billing rehearse --months", () => {
  const desk = makeDesk(settings);
  const folders = useFolders();
  const processes = useProcesses();
  const former = process.env["TMPDIR"];
  let store: DeskStore;
  let organization: Id<"organization">;
  let scratch: string;

  before(async () => {
    store = await desk.store();
    scratch = await folders.make();
    process.env["TMPDIR"] = scratch;
    const empty = await store.till(["billing", "rehearse", "--months", "1"]);
    expect(empty.code, empty.stderr).to.equal(0);
    expect(empty.stdout).to.equal("");
    expect(empty.stderr).to.include("Rehearsed 0 subscriptions");

    organization = await store.pendingOrganization();
    const platform = await store.platformId();
    const wallet = ["--network", "sandbox", "--xpub", xpubOf(0), "--label", "Platform", "--yes"];
    const { id } = (await store.json(["wallet", "add", "--organization", platform, ...wallet])) as {
      id: string;
    };
    await store.json(["billing", "receive-wallet", "--wallet", id, "--token", "USDT", "--yes"]);
    const ids = createIds(systemRandom);
    await store.withApp(async ({ db, clock }) => {
      const now = clock.now();
      const anchorAt = now - 10 * day;
      const end = boundary(anchorAt, "month", 1);
      const period = { currentPeriodStart: anchorAt, currentPeriodEnd: end, nextActionAt: end };
      await db.write(context, async (tx) => {
        await tx.insert(subscriptions, subscription(organization, { anchorAt, ...period }));
        await tx.insert(credits, {
          id: ids.next("credit", now),
          organizationId: organization,
          reason: "Outage",
          amount: 6_000n,
          remaining: 6_000n,
          currency: "USD",
          decimals: 2,
          expiresAt: null,
          createdBy: "tests",
          sourceInvoiceId: null,
          createdAt: now,
          version: 1,
        });
      });
    });
  });
  after(() => {
    if (former === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = former;
  });

  const rehearse = (...words: string[]) => store.till(["billing", "rehearse", ...words]);

  it("prints every invoice and event, and sums that add up, as JSON and as tables", async () => {
    const before = await store.withApp(({ db }) => dumpStore(db));
    const one = ["--months", "3", "--organization", "nook"];
    const shown = (await store.json(["billing", "rehearse", ...one])) as Document;
    expect(shown).to.deep.include({ months: 3, payments: "on-time", organizationId: organization });
    expect([shown.subscriptions, shown.failures]).to.deep.equal([1, []]);
    expect(shown.invoices.map(({ total, creditTotal }) => [total, creditTotal])).to.deep.equal([
      ["0.00", "49.00"],
      ["38.00", "11.00"],
      ["49.00", "0.00"],
    ]);
    expect(shown.events.map(({ event }) => event)).to.include.members([
      "platform_invoice.issued",
      "platform_invoice.reminder",
      "platform_invoice.paid",
      "subscription.renewed",
    ]);
    const cents = (sum: Sum | undefined, name: string) =>
      BigInt(String(sum?.[name]).replace(".", ""));
    const [foot, ...others] = shown.totals;
    expect(others).to.deep.equal([]);
    for (const name of amounts) {
      const added = shown.sums.reduce((all, sum) => all + cents(sum, name), 0n);
      expect(cents(foot, name), name).to.equal(added);
    }
    for (const sum of [...shown.sums, ...shown.totals]) {
      const [subtotal, discounts, taken, total, paid, carried, unpaid] = amounts.map((name) =>
        cents(sum, name),
      ) as [bigint, bigint, bigint, bigint, bigint, bigint, bigint];
      expect(subtotal - discounts - taken).to.equal(total);
      expect(paid + carried + unpaid).to.equal(total);
    }

    const tables = await rehearse("--months", "3");
    expect(tables.code, tables.stderr).to.equal(0);
    expect(tables.stdout).to.match(/^NUMBER +ORGANIZATION +ISSUED/m);
    expect(tables.stdout).to.match(/^ON +ORGANIZATION +EVENT +DETAILS$/m);
    expect(tables.stdout).to.match(
      /^all +USD +3 +0 +147\.00 +0\.00 +60\.00 +87\.00 +\d+\.00 +0\.00 +\d+\.00$/m,
    );
    expect(tables.stderr).to.include("Nothing was changed.");
    expect((await rehearse("--months", "3", "--quiet")).stdout).to.equal(
      "TILL-000001\nTILL-000002\nTILL-000003\n",
    );
    const never = await store.json(["billing", "rehearse", ...one, "--payments", "never"]);
    expect((never as Document).events.map(({ event }) => event)).to.include(
      "platform_invoice.past_due",
    );
    expect(await store.withApp(({ db }) => dumpStore(db))).to.equal(before);
    expect(await readdir(scratch)).to.deep.equal([]);
  });

  it("refuses wrong months, payments, organizations, and flags of the preview", async () => {
    const refusals: readonly (readonly [readonly string[], number, RegExp])[] = [
      [["--months", "0"], 2, /--months must be a whole number from 1 to 36, not "0"/],
      [["--months", "37"], 2, /1 to 36, not "37"/],
      [["--months", "abc"], 2, /1 to 36, not "abc"/],
      [["--months", "1.5"], 2, /1 to 36/],
      [["--months=-1"], 2, /1 to 36/],
      [["--months", "3", "--payments", "soon"], 2, /on-time, late, never/],
      [["--payments", "late"], 2, /--payments needs --months/],
      [["--months", "3", "--status", "active"], 2, /Leave out --status/],
      [["--months", "3", "--organization", "Nobody"], 5, /No organization has the id or the name/],
    ];
    for (const [words, code, message] of refusals) {
      const refused = await rehearse(...words);
      expect([refused.code, refused.stdout], words.join(" ")).to.deep.equal([code, ""]);
      expect(refused.stderr).to.match(message);
    }
    const words = ["billing", "rehearse", "--months", "3", "--data-dir", `${scratch}/nowhere`];
    const nowhere = await till(words, { env: settings });
    expect(nowhere.code, nowhere.stderr).to.equal(5);
    expect(await readdir(scratch)).to.deep.equal([]);
  });

  it("leaves nothing behind after Ctrl-C", async () => {
    const words = ["billing", "rehearse", "--months", "36", "--data-dir", store.folder];
    const running = processes.start(words, { ...settings, TMPDIR: scratch });
    await until(
      "a copy",
      () => readdir(scratch),
      (names) => names.length > 0,
    );
    running.child.kill("SIGINT");
    const { code } = await running.exit();
    expect(code, running.stderr()).to.equal(130);
    expect(running.stdout()).to.equal("");
    expect(await readdir(scratch)).to.deep.equal([]);
  });
});
