// Commands that come from the declaration of an operation: each kind of field becomes a flag, and each flag the field.
import { expect } from "chai";
import * as z from "zod";
import type { App } from "../../src/app.ts";
import { organization } from "../../src/http/declare/permissions.ts";
import type { Command, CommandLine, Looked } from "../../src/http/declare/command.ts";
import { pageParameters } from "../../src/http/declare/list.ts";
import { operation, type AnyCall } from "../../src/http/declare/operation.ts";
import { callOf, propertyOf } from "../../src/cli/command-call.ts";
import { commandsFrom } from "../../src/cli/from-operation.ts";
import type { Terminal } from "../../src/cli/terminal/terminal.ts";
import { InvalidRequest } from "../../src/kernel/errors.ts";

/** The calls of the handler since the command was run. */
let calls: AnyCall[] = [];

interface Request {
  readonly query?: Readonly<Record<string, z.ZodType>>;
  readonly body?: z.ZodType;
}

type Own = Partial<CommandLine<{ readonly id: string }, { readonly id: string }>>;

function commandOf(
  request: Request,
  flags: Own["flags"] = {},
  { method, ...own }: Own & { readonly method?: "PATCH" } = {},
) {
  const [command] = commandsFrom([
    operation({
      id: "tryCustomer",
      group: "Customers",
      method: method ?? (request.body === undefined ? "GET" : "POST"),
      path: "/organizations/{organizationId}/customers/{customerId}/try",
      summary: "Try a customer",
      access: organization("customers:read"),
      request,
      response: { status: 200, record: z.object({ id: z.string() }) },
      errors: [],
      handle(_app, call) {
        calls.push(call as unknown as AnyCall);
        return Promise.resolve({ id: "one" });
      },
      present: (result: { readonly id: string }) => result,
      cli: {
        name: "customer try",
        examples: ["till a", "till b"],
        columns: ["id"],
        flags,
        ...own,
      } as CommandLine<{ readonly id: string }, { readonly id: string }, never>,
    }),
  ]);
  if (command === undefined) throw new Error("there is no command");
  return command;
}

/** Runs a command with flags by their names, and returns the call of the operation. */
async function called(
  command: Command,
  flags: Readonly<Record<string, string | boolean>>,
  words: Readonly<Record<string, string>> = {},
  looked: Looked | null = null,
): Promise<AnyCall> {
  const given = {
    ...noFlags,
    arguments: { customerId: "cus_1", ...words },
    flags: Object.fromEntries(
      Object.entries({ organization: "org_1", ...flags }).map(([name, value]) => [
        propertyOf(name),
        value,
      ]),
    ),
  };
  const terminal = { requestId: "req_1" } as unknown as Terminal;
  calls = [];
  // The handler of these operations uses no app.
  await command.handle({} as App, callOf(terminal, given, null), looked);
  const [got] = calls;
  if (got === undefined) throw new Error("the handler was not called");
  return got;
}

async function refusalOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => "",
    (error: unknown) => String(error instanceof Error ? error.message : error),
  );
}

/** A command line without flags. */
const noFlags = {
  arguments: {},
  flags: {},
  password: null,
  named: { organization: null },
  files: new Map<string, Promise<Buffer>>(),
  output: { isTaken: false },
  progress: () => undefined,
};

const flagsOf = ({ flags }: Command) =>
  flags.slice(1).map(({ flags: written, description }) => `${written}: ${description}`);

describe("The command of an operation", () => {
  it("has an argument or a flag for each parameter and field, with the words of the declaration", () => {
    const read = commandOf({
      query: {
        ...pageParameters,
        email: z.string().optional().meta({ description: "Only of this one. Case is ignored." }),
      },
    });
    expect(read).to.include({ name: "customer try", summary: "Try a customer", effect: "read" });
    expect(read.arguments).to.deep.equal([
      { name: "customerId", description: "the customer's id, such as cus_01h…" },
    ]);
    expect(read.flags[0]?.flags).to.equal("--organization <id|name>");
    expect(flagsOf(read)).to.deep.equal([
      "--email <address>: only of this one; case is ignored",
      "--limit <number>: items per page, 1 to 100 (default 20)",
      "--cursor <text>: the nextCursor of the previous page, with the same filters",
    ]);

    const write = commandOf({
      body: z.strictObject({
        legalName: z.string().meta({ description: "The name by law." }),
        days: z.int().min(1).max(30).nullish().meta({ description: "The days." }),
        isDraft: z.boolean().optional().meta({ description: "Keeps it a draft." }),
        kind: z.enum(["a", "b"]).optional().meta({ description: "The kind." }),
        tags: z.array(z.string()).optional().meta({ description: "The tags." }),
      }),
    });
    expect(write.effect).to.equal("write");
    expect(flagsOf(write)).to.deep.equal([
      "--legal-name <text>: the name by law",
      "--days <number>: the days, 1 to 30",
      "--is-draft: keeps it a draft",
      "--kind <text>: the kind: a or b",
      "--tags <list>: the tags",
    ]);
    expect(write.flags.map(({ ask }) => ask)).to.deep.equal([
      ...[undefined, "The name by law", undefined, undefined, undefined, undefined],
    ]);
    expect(write.flags.map(({ choices }) => choices)[4]).to.deep.equal(["a", "b"]);
  });

  it("passes each value to the operation as the schema takes it", async () => {
    const shape = {
      name: z.string(),
      days: z.int().nullish(),
      isDraft: z.boolean().optional(),
      tags: z.array(z.string()).optional(),
    };
    const write = commandOf({ body: z.strictObject(shape) });
    const call = await called(write, { name: "A", days: "7", "is-draft": true, tags: "a, b" });
    expect(call).to.deep.include({
      params: { customerId: "cus_1", organizationId: "org_1" },
      organizationId: "org_1",
      query: {},
      body: { name: "A", days: 7, isDraft: true, tags: ["a", "b"] },
    });
    expect((await called(write, { name: "A" })).body).to.deep.equal({ name: "A" });

    const read = commandOf({ query: { email: z.string().toLowerCase().optional() } });
    const { query, body } = await called(read, { email: "A@B.example" });
    expect(query).to.deep.equal({ email: "a@b.example" });
    expect(body).to.equal(undefined);
  });

  it("passes the fields of a query as they are in a URL", async () => {
    const read = commandOf({
      query: {
        ...pageParameters,
        isLate: z.string().optional().meta({ type: "boolean", description: "Only late ones." }),
      },
    });
    const { query } = await called(read, { limit: "5", cursor: "c", "is-late": true });
    expect(query).to.deep.equal({ limit: "5", cursor: "c", isLate: "true" });
  });

  it("refuses what the schema refuses, and names the field", async () => {
    const write = commandOf({ body: z.strictObject({ days: z.int().optional() }) });
    for (const days of ["x", "1.5", "", "0x10"]) {
      const error = await called(write, { days }).then(
        () => null,
        (refusal: unknown) => refusal,
      );
      expect(error, days).to.be.instanceOf(InvalidRequest);
      expect(JSON.stringify(error)).to.contain("/days");
    }
  });

  it("can name a flag otherwise, and leave one out", async () => {
    const write = commandOf(
      { body: z.strictObject({ walletId: z.string(), metadata: z.object({}).optional() }) },
      {
        walletId: { name: "wallet", placeholder: "id", description: "the wallet" },
        metadata: null,
      },
    );
    expect(flagsOf(write)).to.deep.equal(["--wallet <id>: the wallet"]);
    // Messages about the field name the flag.
    expect(write.flags[1]).to.include({ field: "walletId", ask: "The wallet" });
    const asked = { walletId: { ask: "Which wallet" }, metadata: null };
    const body = z.strictObject({ walletId: z.string(), metadata: z.object({}).optional() });
    expect(commandOf({ body }, asked).flags[1]).to.include({ ask: "Which wallet" });
    expect((await called(write, { wallet: "wal_1" })).body).to.deep.equal({ walletId: "wal_1" });
  });

  it("can take a field as an argument, read it in its own way, and have a flag for another value", async () => {
    const change = commandOf(
      {
        body: z.strictObject({
          url: z.string().optional(),
          types: z.array(z.object({ name: z.string() })).nullish(),
        }),
      },
      {
        url: { isArgument: true, description: "the receiver" },
        types: {
          placeholder: "list",
          description: "the types",
          read: (text) => text.split(" ").map((name) => ({ name })),
          alternative: { name: "all", description: "all types", value: null },
        },
      },
    );
    expect(change.arguments[1]).to.deep.equal({ name: "url", description: "the receiver" });
    expect(flagsOf(change)).to.deep.equal(["--types <list>: the types", "--all: all types"]);
    const words = { url: "https://a.example" };
    const url = words.url;
    expect((await called(change, { types: "a b" }, words)).body).to.deep.equal({
      url,
      types: [{ name: "a" }, { name: "b" }],
    });
    expect((await called(change, { all: true }, words)).body).to.deep.equal({ url, types: null });
    expect(await refusalOf(called(change, { all: true, types: "a" }, words))).to.equal(
      "Give either --types or --all, not both.",
    );
  });

  it("needs a flag if it changes something, also before it asks", async () => {
    const change = commandOf(
      { body: z.strictObject({ name: z.string().optional(), days: z.int().nullish() }) },
      { days: { alternative: { name: "drop-days", description: "none", value: null } } },
      {
        method: "PATCH",
        look: () => ({ subject: "it" }),
        confirm: () => "Sure?",
      },
    );
    const words = "Nothing to change: give --name, --days or --drop-days.";
    expect(await refusalOf(called(change, {}))).to.equal(words);
    expect(() => change.confirm?.(callOf({} as Terminal, noFlags, null), "")).to.throw(words);
    expect((await called(change, { "drop-days": true })).body).to.deep.equal({ days: null });
  });

  it("refuses a version other than that which was read before the question", async () => {
    const change = commandOf({ body: z.strictObject({ name: z.string() }) });
    const { expect: check } = await called(change, { name: "A" }, {}, { subject: "", version: 3 });
    expect(() => {
      check({ version: 3 });
    }).not.to.throw();
    expect(() => {
      check({ version: 4 });
    }).to.throw("It was changed after the question.");
    const { expect: checkNothing } = await called(change, { name: "A" });
    expect(() => {
      checkNothing({ version: 4 });
    }).not.to.throw();
  });

  it("takes the organization as an argument, or that of the object, and only the listed fields", async () => {
    const body = z.strictObject({ name: z.string().optional(), note: z.string().optional() });
    const one = commandOf({ body }, {}, { organization: "argument", fields: ["note"] });
    expect(one.arguments.map(({ name }) => name)).to.deep.equal(["organizationId", "customerId"]);
    expect(one.flags.map(({ flags }) => flags)).to.deep.equal(["--note <text>"]);
    expect(await called(one, {}, { organizationId: "org_2" })).to.include({
      organizationId: "org_2",
    });
    const found = commandOf({ body }, {}, { organization: "found" });
    expect(found.flags.map(({ flags }) => flags)).to.deep.equal(["--name <text>", "--note <text>"]);
    const stated = commandOf({ body }, {}, { organization: "stated" });
    expect(await called(stated, {})).to.include({ organizationId: "org_1" });
  });

  it("is refused if no flag could give a field that the declaration does not leave out", () => {
    const metadata = z.record(z.string(), z.string()).optional();
    expect(() => commandOf({ body: z.strictObject({ metadata }) })).to.throw(
      "tryCustomer: no flag can give metadata: declare cli.flags.metadata",
    );
    expect(() => commandOf({ body: z.array(z.string()) })).to.throw("the body of tryCustomer");
  });

  it("always sends a value of the declaration, for which it has no flag", async () => {
    const body = z.strictObject({ decision: z.enum(["yes", "no"]), note: z.string().optional() });
    const approve = commandOf({ body }, { decision: { value: "yes" } });
    expect(flagsOf(approve)).to.deep.equal(["--note <text>: note"]);
    expect((await called(approve, { note: "A" })).body).to.deep.equal({
      decision: "yes",
      note: "A",
    });
  });

  it("takes all organizations unless a flag of the declaration needs one", () => {
    const query = { organizationId: z.string().optional(), status: z.string().optional() };
    const all = commandOf({ query });
    const worded = commandOf({ query }, { organizationId: { description: "only of this one" } });
    const needed = commandOf({ query }, { organizationId: { isNeededIf: () => true } });
    const left = commandOf({ query }, { organizationId: null });
    const organizationFlag = (command: Command) =>
      command.flags.find(({ flags }) => flags.startsWith("--organization"));
    expect(organizationFlag(all)).not.to.have.property("isNeededOrganization");
    expect(organizationFlag(worded)).to.include({ description: "only of this one" });
    expect(organizationFlag(worded)).not.to.have.property("isNeededOrganization");
    expect(organizationFlag(needed)).to.include({ isNeededOrganization: true });
    expect(organizationFlag(left)).to.equal(undefined);
  });
});
