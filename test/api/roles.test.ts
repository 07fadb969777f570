// Calls every operation with every role and scope. The calls have an unknown parameter, so that a permitted caller gets
// an error about it, and nothing happens.
import { expect } from "chai";
import type { Operation } from "../../src/api/declare/operation.ts";
import { permissions, roles, scopes, type Role } from "../../src/api/declare/permissions.ts";
import { allOperations } from "../../src/features/index.ts";
import { approvedMerchant, type Answer, type Person } from "../support/app.ts";
import { colleague, keyOf } from "../support/roles-fixture.ts";
import { platformAdmin } from "../support/platform.ts";
import { anyServed } from "../support/served.ts";
import { isWrite, pathOf } from "./declare/operations.ts";
import { expectProblem, placeOf } from "./problem.ts";

/** The weakest role that writes what stands at this place of a path below the organization. */
const writers: Readonly<Record<string, Role>> = {
  "": "admin",
  "api-keys": "admin",
  billing: "owner",
  customers: "member",
  "default-wallets": "owner",
  invitations: "admin",
  invoices: "member",
  kyb: "admin",
  members: "admin",
  "payment-links": "member",
  "payment-policy": "admin",
  payments: "member",
  refunds: "member",
  transfers: "member",
  wallets: "admin",
  "webhook-deliveries": "admin",
  "webhook-endpoints": "admin",
};

/** The permitted callers of an operation, from the table above and the rule of scopes, independent of the program. */
function rightsOf(operation: Operation): { role: Role | null; scope: string | null } {
  if (operation.path.startsWith("/admin/")) return { role: null, scope: "platform" };
  if (!isWrite(operation)) return { role: "viewer", scope: "read" };
  const place = operation.path.split("/")[3] ?? "";
  const role = writers[place];
  if (role === undefined) {
    throw new Error(`say in test/api/roles.test.ts who writes /${place}, for ${operation.id}`);
  }
  // No key may choose where payers are sent.
  if (place === "default-wallets") return { role, scope: null };
  return { role, scope: role === "owner" ? "billing" : "write" };
}

const ofOrganizations = allOperations.filter(({ access }) => access.kind === "organization");
const ofPlatform = allOperations.filter(({ access }) => access.kind === "platform");
const ofAnybody = allOperations.filter(({ access }) => access.kind === "authenticated");
const isEnough = (role: Role, needed: Role) => roles.indexOf(role) >= roles.indexOf(needed);

describe("the operations' permissions", () => {
  it("are all used, and match roles and scopes", () => {
    const used = new Set<string>();
    for (const { id, access } of [...ofOrganizations, ...ofPlatform]) {
      if (!("permission" in access)) throw new Error(`${id} has no permission`);
      used.add(access.permission);
      const operation = allOperations.find((each) => each.id === id);
      const { role, scope } = permissions[access.permission];
      if (operation) expect({ role, scope }, id).to.deep.equal(rightsOf(operation));
    }
    expect(Object.keys(permissions).filter((name) => !used.has(name))).to.deep.equal([]);
  });
});

anyServed("every operation", (served) => {
  let admin: Person;
  let owner: Person;
  const people = new Map<Role, Person>();
  const keys = new Map<string, string>();
  const platformKeys = new Map<string, string>();

  before(async function () {
    this.timeout(120_000);
    admin = await platformAdmin(served.app);
    owner = await approvedMerchant(served.app);
    for (const role of roles) people.set(role, await colleague(served.app, owner, role));
    for (const scope of ["read", "write", "billing"]) {
      keys.set(scope, await keyOf(served.app, owner, scope));
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

  for (const scope of ["read", "write", "billing"]) {
    it(`of an organization allows the scope ${scope} exactly its permissions`, async () => {
      for (const operation of ofOrganizations) {
        const needed = rightsOf(operation).scope;
        const isAllowed = needed === scope || (needed === "read" && scope === "write");
        const answer = await ask(operation, { key: keys.get(scope) ?? "" });
        expectAllowed(answer, isAllowed, `${operation.id} with ${scope}`);
        if (isAllowed) continue;
        if (needed === null) {
          expect(answer.body["detail"], operation.id)
            .to.include("No API key may do this")
            .and.to.include("at least the role owner");
          continue;
        }
        expect(answer.body["detail"], operation.id)
          .to.include(`an API key with the scope ${needed};`)
          .and.to.include(`this key has ${scope}.`);
      }
    });
  }

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
      const reads = !isWrite(operation);
      // One operation tells any key who it is.
      const isForAny = operation.id === "getMe";
      for (const [key, isAllowed] of [
        [keys.get("write"), true],
        [keys.get("read"), reads],
        [keys.get("billing"), isForAny],
        [platformKeys.get("platform"), isForAny],
      ] as const) {
        expectAllowed(await ask(operation, { key: key ?? "" }), isAllowed, operation.id);
      }
    }
  });
});
