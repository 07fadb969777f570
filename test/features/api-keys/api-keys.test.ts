// The rules of keys, with a clock that stands still.
import { expect } from "chai";
import type { App } from "../../../src/app.ts";
import { apiKeysModule } from "../../../src/features/api-keys/api.ts";
import {
  authenticateKey,
  createApiKey,
  flushLastUses,
} from "../../../src/features/api-keys/api-keys.ts";
import { apiKeys, restoredKeys } from "../../../src/features/api-keys/store.ts";
import { organizations } from "../../../src/features/organizations/store.ts";
import type { Actor } from "../../../src/kernel/actor.ts";
import { hour, minute, toIso } from "../../../src/kernel/clock.ts";
import type { Id } from "../../../src/kernel/id.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { stillClock } from "../../support/clock.ts";
import { appOf, newIds } from "../../support/context.ts";
import { addOrganization, enabledNetworks } from "../../support/merchants.ts";
import { anyStore, testContext } from "../../support/store/stores.ts";

const start = Date.UTC(2031, 0, 31);

anyStore("the keys of a store", (store) => {
  const ids = newIds();
  let clock: ReturnType<typeof stillClock>;
  let db: Database;
  let shop: Id<"organization">;
  let app: App;

  beforeEach(async () => {
    clock = stillClock(start);
    db = await store.open();
    shop = await addOrganization(db, ids, start);
    app = appOf({ db, clock, ids, networks: enabledNetworks() });
  });

  const make = (expiresAt: number | null = null) =>
    createApiKey(app, testContext, shop, {
      name: "k",
      scopes: ["read"],
      expiresAt: expiresAt === null ? null : toIso(expiresAt),
    });
  const rowOf = (id: Id<"apiKey">) => db.findOne(apiKeys, "WHERE id = $1", [id]);

  it("work until they expire, which is not in the past", async () => {
    const { secret } = await make(start + 1);
    expect((await authenticateKey(app, secret))?.principal.expiresAt).to.equal(start + 1);
    clock.advance(1);
    expect(await authenticateKey(app, secret)).to.equal(null);
    const refused = await make(clock.now()).catch((error: unknown) => error);
    expect(refused).to.include({ status: 400 });
  });

  it("have a last use, which is stored again once it is more than a minute old, and never twice", async () => {
    const { key, secret } = await make();
    const used = async () => {
      await authenticateKey(app, secret);
      await flushLastUses(app, testContext);
      return (await rowOf(key.id))?.lastUsedAt;
    };
    expect(await used()).to.equal(start);
    clock.advance(minute);
    expect(await used()).to.equal(start);
    clock.advance(1);
    expect(await used()).to.equal(start + minute + 1);
    // Another process has stored a later use since.
    const lastUsedAt = start + hour;
    await db.write(testContext, (tx) =>
      tx.update(apiKeys, { lastUsedAt }, "WHERE id = $1", [key.id]),
    );
    await flushLastUses(app, testContext);
    expect((await rowOf(key.id))?.lastUsedAt).to.equal(lastUsedAt);
  });

  it("have their last use stored by a worker", async () => {
    const { key, secret } = await make();
    const workers = apiKeysModule.workers?.(app) ?? [];
    const run = () =>
      Promise.all(workers.map((worker) => worker.run(new AbortController().signal)));
    expect(await run()).to.deep.equal([false]);
    await authenticateKey(app, secret);
    expect((await rowOf(key.id))?.lastUsedAt).to.equal(null);
    expect(await run()).to.deep.equal([false]);
    expect((await rowOf(key.id))?.lastUsedAt).to.equal(start);
  });

  it("get the scope platform from its admins and the operator only", async () => {
    await db.write(testContext, (tx) =>
      tx.update(organizations, { isPlatform: true }, "WHERE id = $1", [shop]),
    );
    const user = (platformRole: "admin" | "none"): Actor => ({
      type: "user",
      id: ids.next("user", start),
      label: "ada@example.com",
      sessionId: ids.next("session", start),
      platformRole,
    });
    const grantedBy = async (actor: Actor) => {
      const made = createApiKey(app, { ...testContext, actor }, shop, {
        name: "k",
        scopes: ["platform"],
      });
      return made.then(
        ({ key }) => key.scopes.join(),
        (error: unknown) => (error as { code: string }).code,
      );
    };
    expect(await grantedBy(user("admin"))).to.equal("platform");
    expect(await grantedBy({ type: "operator", id: null, label: "root" })).to.equal("platform");
    // The user has just lost the role.
    expect(await grantedBy(user("none"))).to.equal("scope_not_allowed");
  });

  it("are listed after a restore, those that the former store had revoked first", async () => {
    const made = [await make(), await make(), await make(start + 1)];
    const [kept, revoked] = made.map(({ key }) => key);
    if (kept === undefined || revoked === undefined) throw new Error("no key was made");
    clock.advance(1);
    const former = await store.open();
    const there = await addOrganization(former, ids, start);
    await former.write(testContext, (tx) =>
      tx.insertMany(apiKeys, [
        { ...kept, organizationId: there },
        { ...revoked, organizationId: there, revokedAt: start },
      ]),
    );
    const told = async (from: Database | null) =>
      (await restoredKeys(db, from, clock.now())).map(({ id, isRevokedSince }) => [
        id,
        isRevokedSince,
      ]);
    expect(await told(former)).to.deep.equal([
      [revoked.id, true],
      [kept.id, false],
    ]);
    expect(await told(null)).to.deep.equal([
      [kept.id, null],
      [revoked.id, null],
    ]);
  });
});
