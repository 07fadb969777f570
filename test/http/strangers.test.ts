// A valid call of every operation, made by everybody who has no right to it: nothing is answered but what is answered
// for ids of nothing, and nothing changes. That the call was valid shows when its rightful caller makes it at last.
import { expect } from "chai";
import type { Operation } from "../../src/http/declare/operation.ts";
import { allOperations } from "../../src/features/index.ts";
import { expectStatus, keyOf, password, type Answer, type Person } from "../support/app.ts";
import { dumpStore } from "../support/store/dump.ts";
import { anyStore } from "../support/store/stores.ts";
import { openEstate, type Estate } from "./estate.ts";
import { callExample, examplePath, exampleOf } from "./examples.ts";
import { isWrite, parametersOf, pathOf } from "./declare/operations.ts";
import { expectProblem, withoutRequest } from "./problem.ts";

interface Stranger {
  readonly who: string;
  readonly credential: { readonly key?: string; readonly token?: string };
  /** Their own organization; null where they are not asked about it. */
  readonly organizationId: string | null;
  /** May do everything there. */
  readonly isOwner?: true;
}

/** The same secret but for a character in its middle. */
function altered(secret: string): string {
  const middle = Math.floor(secret.length / 2);
  const other = secret[middle] === "a" ? "b" : "a";
  return secret.slice(0, middle) + other + secret.slice(middle + 1);
}

/** Operations without an organization concern only the caller, so they are left out. */
const walked = allOperations.filter(({ access }) =>
  ["organization", "platform"].includes(access.kind),
);

anyStore("a stranger", (store) => {
  let estate: Estate;
  let merchants: readonly Stranger[];
  let platform: readonly Stranger[];
  let nobodies: readonly Stranger[];

  before(async () => {
    estate = await openEstate(store);
    const { app, admin, owner, platformKey, counter, member } = estate;
    const other = await counter.merchant();
    const former = await member();
    await estate.post(`/members/${former.membershipId}/remove`);
    const revoked = await estate.post("/api-keys", { name: "old", scopes: ["read", "write"] });
    await estate.post(`/api-keys/${String(revoked["id"])}/revoke`);
    const ended = await endedSession(former);
    const { organizationId } = other;
    const atHome = { organizationId: admin.organizationId };
    merchants = [
      { who: "an owner", credential: { token: other.token }, organizationId, isOwner: true },
      { who: "a key", credential: { key: other.key }, organizationId },
      { who: "a removed member", credential: { token: former.token }, organizationId: null },
    ];
    platform = [
      { who: "the platform's admin", credential: { token: admin.token }, ...atHome },
      { who: "the platform's key", credential: { key: platformKey }, ...atHome },
      {
        who: "a merchant's key of the platform",
        credential: { key: await keyOf(app, admin, "read", "write") },
        ...atHome,
      },
    ];
    nobodies = [
      { who: "nobody", credential: {} },
      { who: "a revoked key", credential: { key: String(revoked["secret"]) } },
      { who: "an ended session", credential: { token: ended } },
      { who: "a key that is none", credential: { key: altered(owner.key) } },
      { who: "a token that is none", credential: { token: altered(owner.token) } },
    ].map((each) => ({ ...each, organizationId: null }));
  });
  after(() => estate.stop());

  async function endedSession({ email }: Person): Promise<string> {
    const { app } = estate;
    const body = { email, password };
    const session = await expectStatus(app.request("POST", "/v1/auth/login", { body }), 200);
    const { accessToken, refreshToken } = session.body as Record<string, string>;
    await expectStatus(app.request("POST", "/v1/auth/logout", { body: { refreshToken } }), 204);
    return accessToken ?? "";
  }

  function expectAlike(left: Answer, right: Answer, saying: string): void {
    expect(left.status, `${saying}: ${left.text}`).to.be.within(400, 404);
    expect(withoutRequest(left), saying).to.deep.equal(withoutRequest(right));
  }

  for (const operation of walked) {
    it(`learns nothing from ${operation.id} and changes nothing`, async () => {
      const example = await exampleOf(operation, estate);
      const before = isWrite(operation) ? await dumpStore(estate.app.app.db) : "";
      const call = (credential: Stranger["credential"], path: string) =>
        callExample(operation, estate, example, { credential, path });
      const real = examplePath(operation, estate, example);

      const nowhere = pathOf(operation);
      const alike = async ({ who, credential }: Stranger) => {
        const [answer, unknown] = await Promise.all([
          call(credential, real),
          call(credential, nowhere),
        ]);
        expectAlike(answer, unknown, who);
        return answer;
      };
      for (const answer of await Promise.all(nobodies.map(alike))) {
        expectProblem(answer, 401, "unauthenticated");
      }
      const isPlatforms = operation.access.kind === "platform";
      const strangers = isPlatforms ? merchants : [...merchants, ...platform];
      for (const answer of await Promise.all(strangers.map(alike))) {
        expectProblem(answer, isPlatforms ? 403 : 404, isPlatforms ? "forbidden" : "not_found");
      }
      if (!isPlatforms && parametersOf(operation).length > 1) {
        const things = { ...estate.things, ...example.ids };
        await Promise.all(
          strangers.map((stranger) => expectNothingAtHome(operation, stranger, things, call)),
        );
      }

      if (isWrite(operation)) {
        expect(await dumpStore(estate.app.app.db), operation.id).to.equal(before);
      }
      await expectStatus(callExample(operation, estate, example), operation.status);
    });
  }

  /** Another's object under the stranger's own organization is as good as none. */
  async function expectNothingAtHome(
    operation: Operation,
    { who, credential, organizationId, isOwner }: Stranger,
    things: Readonly<Record<string, string>>,
    call: (credential: Stranger["credential"], path: string) => Promise<Answer>,
  ): Promise<void> {
    if (organizationId === null) return;
    const foreign = await call(credential, pathOf(operation, { ...things, organizationId }));
    const nothing = await call(credential, pathOf(operation, { organizationId }));
    expectAlike(foreign, nothing, `${who} at home`);
    if (isOwner) expectProblem(foreign, 404, "not_found");
  }
});
