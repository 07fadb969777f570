// Walks every command that the help lists, in this process: none may hang, color piped output, print a secret, or fail
// in a way that the help does not document. Their output and their help have golden copies.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Command as Program } from "commander";
import { expect } from "chai";
import { createApiKey } from "../../src/features/api-keys/api-keys.ts";
import { listSessions } from "../../src/features/auth/sessions.ts";
import { logIn } from "../../src/features/auth/login.ts";
import { listPayments } from "../../src/features/payments/payments.ts";
import { declarationOf } from "../../src/cli/command-words.ts";
import { exitCodes } from "../../src/cli/failures/exit-codes.ts";
import { operator } from "../../src/cli/operator.ts";
import { makeProgram } from "../../src/cli/program.ts";
import { widthOf } from "../../src/cli/terminal/drawing/width.ts";
import { listWallets } from "../../src/features/wallets/wallets.ts";
import { day, hour, systemClock } from "../../src/kernel/clock.ts";
import { createPaymentLink } from "../../src/features/payment-links/payment-links.ts";
import { createWebhookEndpoint } from "../../src/features/webhooks/endpoints.ts";
import { getInvoice } from "../../src/features/invoices/invoices.ts";
import { createInvoice } from "../../src/features/invoices/issuing/create.ts";
import { presentInvoice } from "../../src/features/invoices/records.ts";
import { context, makeDesk, type DeskStore } from "./billing-operator.ts";
import { expectGolden, withoutChance } from "../support/golden.ts";
import { password, till } from "../support/programs/till.ts";
import { openMarket } from "./market.ts";

/** Commands that run until they are stopped, and those that begin with a question about a whole store. */
const notWalked = ["serve", "demo", "init", "restore", "webhook listen"];
/** Commands that show a new secret once. */
const showsSecret = ["key create", "webhook add", "user reset-password"];
/** Commands that exit with 1 if they find a problem, which depends on the machine. */
const reports = ["doctor"];
/** Commands whose output is about this machine or has a key, a signature or a new secret, and so no golden copy. */
const changing = [
  ...[...reports, "backup", "ops status", "version", "analytics report"],
  ...[...showsSecret, "webhook rotate-secret", "chain status", "session list"],
];
const isChanging = (name: string) => changing.includes(name) || /^(receipt|audit) /.test(name);
/** Commands whose subject the store of this suite does not have, with their exit codes. */
const refused: Readonly<Record<string, number>> = {
  // No server has run on the store.
  "ops status": 7,
  "webhook verify": 2,
  // Without a flag there is nothing to change.
  "webhook update": 2,
  "receipt verify": 1,
  "payments transfer": 5,
  "payments allocate": 5,
  "payments ignore": 5,
  "payments unignore": 5,
  "refund show": 5,
  "refund create": 6,
  "refund send": 5,
  "refund reject": 5,
  "refund confirm-held": 5,
  "webhook show": 5,
  "webhook attempts": 5,
  "queue retry": 5,
  "rates accept": 5,
  "db copy": 2,
  "billing cancel": 5,
  "chain acknowledge": 6,
  "chain accept-gap": 6,
  "payments confirm-held": 6,
  "payments accept": 6,
  "payments reject": 6,
};
/** Width of the terminal. */
const columns = 60;
const secrets = [/whsec_[\w+/=]{10}/, /till_(live|test)_\w{12}/, /\$argon2/, /"secret":/];

/** Values of arguments and flags by name, for the store of this suite. */
type Samples = Readonly<Record<string, string>>;

describe("every command", () => {
  const desk = makeDesk({
    TILL_RATES: "off",
    TILL_NETWORKS: "sandbox",
    TILL_SANDBOX_BLOCK_MS: "0",
    TILL_ORGANIZATION: "Shop",
    TILL_WEBHOOK_ALLOW_CIDRS: "127.0.0.1/32",
  });
  let store: DeskStore;
  let samples: Samples;
  let commands: readonly Leaf[];

  // It is noon, so that no day begins meanwhile: charts count days.
  const systemNow = () => Date.now();
  before(() => {
    const untilNoon = 12 * hour - (systemNow() % day);
    systemClock.now = () => systemNow() + untilNoon;
  });
  after(() => {
    systemClock.now = systemNow;
  });

  before(async () => {
    store = await desk.store();
    samples = await fill(store);
    commands = leavesOf(await makeProgram(["help"], () => Promise.reject(new Error("unused")), []));
  });

  it("prints what it did, as a table, as JSON and as ids, without colors or secrets", async () => {
    expect(commands.length).to.be.above(90);
    const secret = (await readFile(join(store.folder, "secret"), "utf8")).trim();
    const faults: string[] = [];
    const said: string[] = [];
    const walked = commands.filter(({ name }) => !notWalked.includes(name));
    for (const leaf of walked) {
      for (const form of formsOf(leaf)) {
        const words = [...wordsOf(leaf, samples), ...form];
        // Tables are printed to a narrow terminal, the other forms to a pipe.
        const screen = form.length === 0 ? { columns } : {};
        const { code, stdout, stderr } = await store.till(words, {
          ...screen,
          env: { NO_COLOR: "1" },
          stdin: `${password}\n`,
        });
        if (!isChanging(leaf.name)) {
          const lines = [
            `$ till ${words.join(" ")}`,
            stdout,
            stderr,
            `exit code ${String(code)}\n`,
          ];
          said.push(withoutChance(lines.join("\n").replaceAll(store.folder, "FOLDER")));
        }
        const fault = (what: string) => {
          faults.push(`till ${words.join(" ")}: ${what}\n${stdout}${stderr}`);
        };
        const isFinding = code === 1 && reports.includes(leaf.name);
        if (code !== (refused[leaf.name] ?? 0) && !isFinding) fault(`exited with ${String(code)}`);
        if (!Object.values(exitCodes).some((one) => one.code === code)) fault("another exit code");
        const wide = stdout.split("\n").find((line) => widthOf(line) > columns);
        // CSV is for other programs, whatever the width.
        if (form.length === 0 && wide !== undefined && !leaf.name.endsWith(" export"))
          fault(`is too wide: ${wide}`);
        // A terminal may show the progress of long work, which moves the cursor.
        if ((form.length === 0 ? stdout : stdout + stderr).includes("\u001b"))
          fault("has control sequences");
        if (stdout.includes(secret) || stderr.includes(secret)) fault("shows the server's secret");
        if (!showsSecret.includes(leaf.name) && secrets.some((one) => one.test(stdout + stderr))) {
          fault("shows a secret");
        }
        if (form[0] === "--json" && !isJson(code === 0 ? stdout : stderr)) fault("is not JSON");
        if (form[0] === "--quiet" && /\S {2,}\S/.test(stdout)) {
          fault("prints more than ids");
        }
      }
    }
    if (faults.length > 0) expect.fail(`${String(faults.length)} faults\n${faults.join("\n")}`);
    const text = said.join("\n").replaceAll(operator().label, "user@host");
    expectGolden(new URL("golden/commands.txt", import.meta.url), text);
  });

  it("has a help that is as it was", async () => {
    const said: string[] = [];
    for (const words of [[], ...commands.map(({ name }) => name.split(" "))]) {
      const { stdout } = await till([...words, "--help"]);
      said.push(`$ till ${[...words, "--help"].join(" ")}`, stdout);
    }
    expectGolden(new URL("golden/help.txt", import.meta.url), said.join("\n"));
  });

  it("takes the organization of TILL_ORGANIZATION, or says in its help that it does not", () => {
    const silent = commands.filter(({ name, command }) => {
      const flag = command.options.find(({ long }) => long === "--organization");
      return name !== "init" && flag?.description.includes("TILL_ORGANIZATION") === false;
    });
    expect(silent.map(({ name }) => name)).to.deep.equal([]);
    // The flags that say so are those of declarations that the program acts on.
    const needed = commands.flatMap(({ command }) =>
      command.options.filter((flag) => {
        const declared = declarationOf(flag);
        return (declared as { isNeededOrganization?: true } | undefined)?.isNeededOrganization;
      }),
    );
    const saying = commands.flatMap(({ command }) =>
      command.options.filter(({ description }) => description.includes("(default: TILL_ORG")),
    );
    // All but `webhook listen`, which belongs to the program itself and reads the variable on its own.
    expect(saying.length - needed.length).to.equal(1);
    expect(needed).to.have.length.above(30);
  });

  it("needs an organization for an endpoint's deliveries and a ranking of customers, not for all", async () => {
    for (const words of [
      ["webhook", "deliveries", "--event-type", "invoice.paid"],
      ["webhook", "deliveries"],
      ["payments", "list", "--sort", "-blockTime"],
      ["analytics", "top", "customers"],
      ["analytics", "top", "organizations"],
    ]) {
      const { code, stderr } = await store.till(words);
      expect(code, `${words.join(" ")}: ${stderr}`).to.equal(0);
    }
  });
});

const unknown = "0".repeat(26);
const address = "0x52908400098527886E0F7030069857D2E4169EE7";

/** Fills the store with an object of most kinds, and returns values for the arguments and flags of all commands. */
async function fill(store: DeskStore): Promise<Samples> {
  const { organizationId, invoiceId } = await openMarket(store);
  const pending = await store.pendingOrganization();
  await writeFile(
    join(store.folder, "invoices.csv"),
    "amount,settlementCurrency,externalId,tokenSymbol,network\n1.00,USD,A-1,USDT,sandbox\n",
  );
  return store.withApp(async (app) => {
    const terms = { settlementCurrency: "USD", tokenSymbol: "USDT", network: "sandbox" };
    const key = await createApiKey(app, context, organizationId, { name: "k", scopes: ["read"] });
    const link = await createPaymentLink(app, context, organizationId, terms);
    const draft = { ...terms, amount: "5.00", draft: true };
    const { invoice } = await createInvoice(app, context, organizationId, draft);
    const { endpoint } = await createWebhookEndpoint(app, context, organizationId, {
      url: "http://127.0.0.1:9/hook",
    });
    const { data: wallets } = await listWallets(app, organizationId, {});
    const { data: payments } = await listPayments(app, organizationId, {});
    const paid = await getInvoice(app, organizationId, invoiceId);
    await logIn(app, context, { email: "ada@example.com", password });
    const { data: sessions } = await listSessions(app, {});
    return {
      organizationId,
      "org approve organizationId": pending,
      "org reject organizationId": pending,
      "org request-changes organizationId": pending,
      "org suspend organizationId": pending,
      "org resume organizationId": pending,
      "org brand --accent-color": "#7a1f5c",
      "org origins --origins": "https://shop.example",
      invoiceId,
      "invoice cancel invoiceId": invoice.id,
      checkout: presentInvoice(paid).checkoutId ?? "",
      apiKeyId: key.key.id,
      walletId: wallets[0]?.id ?? "",
      paymentLinkId: link.id,
      paymentId: payments[0]?.payment.id ?? "",
      webhookEndpointId: endpoint.id,
      sessionId: sessions[0]?.id ?? "",
      transferId: `trf_${unknown}`,
      allocations: invoiceId,
      refundId: `rfd_${unknown}`,
      transactionHash: `0x${"5e".repeat(32)}`,
      webhookDeliveryId: `whd_${unknown}`,
      "webhook replay --from": "2021-01-31T00:00:00Z",
      "webhook replay --to": "2031-02-01T00:00:00Z",
      "webhook replay --organization": organizationId,
      job: `job_${unknown}`,
      url: "http://127.0.0.1:9/more",
      file: join(store.folder, "invoices.csv"),
      "--html": join(store.folder, "report.html"),
      "backup file": store.folder,
      pair: "EUR/USD",
      of: "customers",
      "help words": "exit-codes",
      "analytics top --organization": organizationId,
      to: address,
      shell: "bash",
      amount: "5.00",
      value: "10",
      email: "ada@example.com",
      "--email": "bo@example.com",
      "user create --password-stdin": "",
      "--note": "Note",
      "--name": "Name",
      "--scopes": "read",
      "--network": "sandbox",
      "--label": "Wallet",
      "refund create --address": address,
      "wallet add --address": `0x${"ab".repeat(20)}`,
      "--amount": "5.00",
      "--amounts": "1.00,2.00",
      "--settlement-currency": "USD",
      "--token-symbol": "USDT",
      "invoice create --token-symbol": "USDT",
      "invoice create --network": "sandbox",
      "link create --payment-options": "sandbox/USDT sandbox/USDC",
      "payments set-policy --late-payments": "review",
      "--currency": "USD",
      "--reason": "Reason",
      "--from": address,
      "sandbox reorg --blocks": "1",
      "chain scan --from": "1",
      "chain scan --to": "2",
      "chain accept-gap --from": "1",
      "chain accept-gap --to": "2",
      held: payments[0]?.payment.id ?? "",
    };
  });
}

interface Leaf {
  readonly name: string;
  readonly command: Program;
}

function leavesOf(program: Program): Leaf[] {
  return program.commands.flatMap((command): Leaf[] =>
    command.commands.length === 0
      ? [{ name: command.name(), command }]
      : command.commands.map((verb) => ({
          name: `${command.name()} ${verb.name()}`,
          command: verb,
        })),
  );
}

/** A change is run once, in turn as a table and as JSON; a read command in both forms, every third also as ids. */
function formsOf({ name, command }: Leaf): string[][] {
  // Another command changes nothing for this one.
  const turn = Buffer.from(name).reduce((sum, byte) => sum + byte, 0);
  const [table, json, quiet] = [[], ["--json"], ["--quiet"]];
  if (isWrite(command) || name.startsWith("sandbox ")) return [turn % 2 === 0 ? table : json];
  return turn % 3 === 0 ? [table, json, quiet] : [table, json];
}

function isWrite(command: Program): boolean {
  return command.options.some(({ long }) => long === "--dry-run");
}

function wordsOf({ name, command }: Leaf, samples: Samples): string[] {
  const valueOf = (key: string) => samples[`${name} ${key}`] ?? samples[key];
  const given = command.registeredArguments.flatMap((one) => {
    const value = valueOf(one.name());
    if (value === undefined && one.required) throw new Error(`no sample of ${name} ${one.name()}`);
    const isGiven = one.required || samples[`${name} ${one.name()}`] !== undefined;
    return isGiven && value !== undefined ? [value] : [];
  });
  const flags = command.options.flatMap(({ long, description }) => {
    const value = valueOf(long ?? "");
    const isNeeded =
      description.endsWith("(required)") || samples[`${name} ${long ?? ""}`] !== undefined;
    if (!isNeeded) return [];
    if (value === undefined) throw new Error(`no sample of ${name} ${long ?? ""}`);
    return [value === "" ? (long ?? "") : `${long ?? ""}=${value}`];
  });
  return [
    ...name.split(" "),
    ...given,
    ...flags,
    "--yes",
    ...(isWrite(command) ? ["--dry-run"] : []),
  ];
}

/** Whether a text is a JSON value, or one in each line. */
function isJson(text: string): boolean {
  const whole = text.trim();
  return isValue(whole) || whole.split("\n").every(isValue);
}

function isValue(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
