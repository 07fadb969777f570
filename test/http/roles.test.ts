// Calls every operation with every role and scope. The calls have an unknown parameter, so that a permitted caller gets
// an error about it, and nothing happens.
import { readFile } from "node:fs/promises";
import { expect } from "chai";
import type { Operation } from "../../src/http/declare/operation.ts";
import {
  keyRefusal,
  permissions,
  roles,
  scopes,
  type Role,
  type Rule,
} from "../../src/http/declare/permissions.ts";
import { allOperations } from "../../src/features/index.ts";
import {
  anyServed,
  approvedMerchant,
  colleague,
  keyOf,
  platformAdmin,
  type Answer,
  type Person,
} from "../support/app.ts";
import { isWrite, pathOf } from "./declare/operations.ts";
import { expectProblem, placeOf } from "./problem.ts";

interface Rights {
  readonly role: Role | null;
  readonly scopes: readonly string[];
}

/**
 * The readers and writers of the objects at this place of a path below the organization: the narrow scopes that read it,
 * the weakest role that writes it, and the narrow scopes that write it.
 */
const places: Readonly<
  Record<string, readonly [readers: string, role: Role | null, writers: string]>
> = {
  "": ["shop settings", "admin", "settings"],
  analytics: ["", null, ""],
  "api-keys": ["keys", "admin", "keys"],
  "audit-logs": ["", null, ""],
  "default-wallets": ["wallets", "owner", ""],
  customers: ["shop customers", "member", "shop customers"],
  events: ["shop webhooks", null, ""],
  invitations: ["members", "admin", "members"],
  invoices: ["shop invoices links payments:decide refunds", "member", "shop invoices"],
  kyb: ["", "admin", "settings"],
  members: ["members", "admin", "members"],
  "payment-links": ["shop links", "member", "shop links"],
  "payment-policy": ["shop settings", "admin", "settings"],
  payments: ["shop payments:decide refunds", "member", "payments:decide"],
  refunds: ["shop payments:decide refunds", "member", "refunds"],
  transfers: ["payments:decide", "member", "payments:decide"],
  usage: ["", null, ""],
  wallets: ["wallets", "admin", "wallets"],
  "webhook-deliveries": ["webhooks", "admin", "webhooks"],
  "webhook-endpoints": ["webhooks", "admin", "webhooks"],
};

/** The operations without an organization in their path; null if every key may call them. */
const withoutPlace: Readonly<Record<string, readonly string[] | null>> = {
  acceptInvitation: null,
  changePassword: null,
  createOrganization: ["write"],
  getMe: null,
  listNetworks: [
    ...["read", "write", "shop", "invoices", "links"],
    ...["payments:decide", "refunds", "wallets", "settings"],
  ],
  listOrganizations: ["read", "write", "shop", "settings"],
  listPlans: ["read", "write"],
  listWebhookEventTypes: ["read", "write", "shop", "webhooks"],
};

/** The permitted callers of an operation, from the tables above, independent of the program. */
function rightsOf(operation: Operation): Rights {
  const { id, path } = operation;
  if (path.startsWith("/admin/")) return { role: null, scopes: ["platform"] };
  const [, , , place = "", ...below] = path.split("/");
  if (path.endsWith(".csv")) return { role: "viewer", scopes: ["read", "write", "exports"] };
  if (place === "billing") {
    return isWrite(operation)
      ? { role: "owner", scopes: ["billing"] }
      : { role: "viewer", scopes: ["read", "write"] };
  }
  const found = places[place];
  if (found === undefined) {
    throw new Error(`say in test/http/roles.test.ts who reads and writes /${place}, for ${id}`);
  }
  const [readers, role, writers] = found.map((words) =>
    words === null || words === "" ? [] : words.split(" "),
  );
  // No key may choose where payers are sent.
  if (place === "default-wallets" && isWrite(operation)) return { role: "owner", scopes: [] };
  // A capacity is a wallet's, and a recorded refund is not sent.
  const isRecord = place === "refunds" && below.length === 0;
  return isWrite(operation)
    ? {
        role: (role?.[0] ?? null) as Role | null,
        scopes: ["write", ...(isRecord ? ["shop"] : []), ...(writers ?? [])],
      }
    : { role: "viewer", scopes: ["read", "write", ...(readers ?? [])] };
}

const ofOrganizations = allOperations.filter(({ access }) => access.kind === "organization");
const ofPlatform = allOperations.filter(({ access }) => access.kind === "platform");
const ofAnybody = allOperations.filter(({ access }) => access.kind === "authenticated");
const isEnough = (role: Role, needed: Role) => roles.indexOf(role) >= roles.indexOf(needed);

/** The words in backticks of a cell of a table. */
const codes = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);

/** Everything that the key of a shop may do. It may do nothing else. */
const ofShops = [
  ...["acceptInvitation", "changePassword", "getMe"], // The first two refuse every key.
  ...["listOrganizations", "getOrganization", "getPaymentPolicy", "listNetworks"],
  ...["listInvoices", "getInvoice", "createInvoice", "createInvoiceBatch"],
  ...["updateInvoice", "cancelInvoice"],
  ...["listCustomers", "getCustomer", "createCustomer", "updateCustomer"],
  ...["listPaymentLinks", "getPaymentLink", "createPaymentLink", "disablePaymentLink"],
  ...["listPayments", "getPayment", "listRefunds", "getRefund", "createRefund"],
  ...["listEvents", "getEvent", "listWebhookEventTypes"],
];

describe("the operations' permissions", () => {
  it("are all used, and match roles and scopes", () => {
    const used = new Set<string>();
    for (const { id, access } of [...ofOrganizations, ...ofPlatform]) {
      if (!("permission" in access) || access.permission === null) {
        throw new Error(`${id} has no permission`);
      }
      used.add(access.permission);
      const operation = allOperations.find((each) => each.id === id);
      const { role, scopes: given } = permissions[access.permission];
      if (operation === undefined) continue;
      const wanted = rightsOf(operation);
      expect(role, id).to.equal(wanted.role);
      expect([...given].sort(), id).to.deep.equal([...wanted.scopes].sort());
    }
    for (const { id, access } of ofAnybody) {
      if (access.kind !== "authenticated") throw new Error(id);
      const { permission } = access;
      if (permission !== null) used.add(permission);
      const given = permission === null ? null : [...permissions[permission].scopes];
      expect(given, id).to.deep.equal(withoutPlace[id]);
    }
    expect(Object.keys(permissions).filter((name) => !used.has(name))).to.deep.equal([]);
  });

  it("name the scopes that give them, or the reason why no key has them", () => {
    const rules: [string, Rule][] = Object.entries(permissions);
    const without = rules.filter(
      ([, rule]) => rule.scopes.length === 0 && (!("noKey" in rule) || rule.noKey === ""),
    );
    expect(without.map(([name]) => name)).to.deep.equal([]);
    for (const [name, rule] of rules) {
      expect(new Set(rule.scopes).size, name).to.equal(rule.scopes.length);
      // A key with `write` may do what an admin may, and one with `read` what a viewer may read.
      const isOfAdmins = rule.role !== null && rule.role !== "owner" && rule.scopes.length > 0;
      expect((rule.scopes as readonly string[]).includes("write"), name).to.equal(isOfAdmins);
      const isReading = rule.role === "viewer" && name.endsWith(":read");
      expect((rule.scopes as readonly string[]).includes("read"), name).to.equal(isReading);
    }
    // A row that no key has says why when a key is refused.
    const rule = { role: "owner", scopes: [], noKey: "An owner decides it.", means: "x" } as const;
    expect(keyRefusal(rule, ["write"])).to.equal("No API key may do this. An owner decides it.");
    expect(keyRefusal(permissions["refunds:request"], ["read", "billing"])).to.equal(
      "This needs an API key with the scope write, shop or refunds; this key has read, billing.",
    );
  });

  it("are all in docs/permissions.md, with their scopes", async () => {
    const file = new URL("../../docs/permissions.md", import.meta.url);
    const [ofScopes = "", ofPermissions = ""] = (await readFile(file, "utf8")).split("## All ");
    for (const [name, { scopes: given }] of Object.entries(permissions)) {
      const [row = ""] = new RegExp(`^\\| \`${name}\` .*$`, "m").exec(ofPermissions) ?? [];
      const [, , , , cell = ""] = row.split("|");
      expect(codes(cell), name).to.deep.equal([...given]);
    }
    for (const scope of scopes) {
      const [row = ""] = new RegExp(`^\\| \`${scope}\` .*$`, "m").exec(ofScopes) ?? [];
      const [, , , cell = ""] = row.split("|");
      const held = Object.entries(permissions).filter(([, rule]) =>
        (rule.scopes as readonly string[]).includes(scope),
      );
      expect(codes(cell), scope).to.deep.equal(held.map(([name]) => name));
    }
  });
});

anyServed("every operation", (served) => {
  let admin: Person;
  let owner: Person;
  const people = new Map<Role, Person>();
  const keys = new Map<string, string>();
  const platformKeys = new Map<string, string>();

  before(async () => {
    admin = await platformAdmin(served.app);
    owner = await approvedMerchant(served.app);
    for (const role of roles) people.set(role, await colleague(served.app, owner, role));
    for (const scope of scopes) {
      if (scope !== "platform") keys.set(scope, await keyOf(served.app, owner, scope));
    }
    for (const scope of scopes) platformKeys.set(scope, await keyOf(served.app, admin, scope));
  });

  function ask(
    operation: Operation,
    credential: { readonly key?: string; readonly token?: string },
    organizationId = owner.organizationId,
  ): Promise<Answer> {
    const path = `${pathOf(operation, { organizationId })}?nonsense=1`;
    return served.app.request(operation.method, path, credential);
  }

  function expectAllowed(answer: Answer, isAllowed: boolean, saying: string): void {
    const { status, body } = answer;
    const code = isAllowed ? "invalid_request" : "forbidden";
    expect({ status, code: body["code"] }, saying).to.deep.equal({
      status: isAllowed ? 400 : 403,
      code,
    });
    if (!isAllowed) return;
    const pointers = expectProblem(answer, 400, code).map(placeOf);
    expect(pointers, saying).to.include("?nonsense");
  }

  it("is covered here or public", () => {
    const open = allOperations.filter(({ access }) => access.kind === "public");
    const walked = [...ofOrganizations, ...ofPlatform, ...ofAnybody, ...open];
    expect(allOperations.filter((each) => !walked.includes(each))).to.deep.equal([]);
  });

  for (const role of roles) {
    it(`of an organization allows the role ${role} exactly its permissions`, async () => {
      const person = people.get(role);
      for (const operation of ofOrganizations) {
        const needed = rightsOf(operation).role;
        const isAllowed = needed !== null && isEnough(role, needed);
        const answer = await ask(operation, { token: person?.token ?? "" });
        expectAllowed(answer, isAllowed, `${operation.id} as ${role}`);
      }
    });
  }

  for (const scope of scopes) {
    if (scope === "platform") continue;
    it(`of an organization allows the scope ${scope} exactly its permissions`, async () => {
      for (const operation of ofOrganizations) {
        const needed = rightsOf(operation).scopes;
        const isAllowed = needed.includes(scope);
        const answer = await ask(operation, { key: keys.get(scope) ?? "" });
        expectAllowed(answer, isAllowed, `${operation.id} with ${scope}`);
        if (isAllowed) continue;
        const { detail } = answer.body;
        if (needed.length === 0) {
          expect(detail, operation.id).to.match(/^No API key may do this\. \w/);
          continue;
        }
        const [, named = ""] = /with the scope (.+); this key has /.exec(String(detail)) ?? [];
        expect(named.split(/, | or /).sort(), operation.id).to.deep.equal([...needed].sort());
        expect(detail, operation.id).to.include(`this key has ${scope}.`);
      }
    });
  }

  it("allows the scope shop only what a shop needs", async () => {
    const key = keys.get("shop") ?? "";
    const allowed: string[] = [];
    for (const operation of allOperations) {
      if (operation.access.kind === "public") continue;
      const answer = await ask(operation, { key });
      if (answer.status !== 403) allowed.push(operation.id);
      else expectProblem(answer, 403, "forbidden");
    }
    expect(
      allowed.sort(),
      "may the key of a shop call it? If so, list it in ofShops",
    ).to.deep.equal([...ofShops].sort());
  });

  it("of an organization refuses a narrow key of another one like an unknown organization", async () => {
    for (const operation of ofOrganizations) {
      const other = { key: keys.get("shop") ?? "" };
      expectProblem(await ask(operation, other, admin.organizationId), 404, "not_found");
    }
  });

  it("of an organization refuses the scope platform, even in the platform organization", async () => {
    const key = platformKeys.get("platform") ?? "";
    for (const operation of ofOrganizations) {
      expectAllowed(await ask(operation, { key }, admin.organizationId), false, operation.id);
      expectProblem(await ask(operation, { key }), 404, "not_found");
    }
  });

  it("of the platform allows only its admins and the scope platform", async () => {
    const viewer = await colleague(served.app, admin, "viewer");
    for (const operation of ofPlatform) {
      for (const [name, credential, isAllowed] of [
        ["an admin", { token: admin.token }, true],
        ["the scope platform", { key: platformKeys.get("platform") ?? "" }, true],
        ["the scope write at the platform", { key: platformKeys.get("write") ?? "" }, false],
        ["the scope read at the platform", { key: platformKeys.get("read") ?? "" }, false],
        ["a viewer of the platform", { token: viewer.token }, false],
        ["a merchant's owner", { token: people.get("owner")?.token ?? "" }, false],
        ["the scope billing at the platform", { key: platformKeys.get("billing") ?? "" }, false],
        ["a merchant's key", { key: keys.get("write") ?? "" }, false],
        ["a merchant's key with billing", { key: keys.get("billing") ?? "" }, false],
      ] as const) {
        expectAllowed(await ask(operation, credential), isAllowed, `${operation.id} as ${name}`);
      }
    }
  });

  it("without an organization accepts any credential that may read or write", async () => {
    for (const operation of ofAnybody) {
      for (const role of roles) {
        const answer = await ask(operation, { token: people.get(role)?.token ?? "" });
        expectAllowed(answer, true, `${operation.id} as ${role}`);
      }
      const needed = withoutPlace[operation.id] ?? null;
      for (const [scope, key = ""] of [
        ...keys,
        ["platform", platformKeys.get("platform")] as const,
      ]) {
        const isAllowed = needed === null || needed.includes(scope);
        expectAllowed(await ask(operation, { key }), isAllowed, `${operation.id} with ${scope}`);
      }
    }
  });
});
