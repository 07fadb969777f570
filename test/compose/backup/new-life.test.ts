// A restored store knows that it was restored: nobody continues in it as if nothing had happened.
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { systemClock } from "../../../src/kernel/clock.ts";
import { auditLogs } from "../../../src/platform/audit/chain.ts";
import {
  approvedMerchant,
  expectStatus,
  startApp,
  type Merchant,
  type TestApp,
} from "../../support/app.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";
import { until } from "../../support/until.ts";
import { back, restore, usePlaces } from "./backups.ts";

eachStore("a restored store", (store) => {
  const places = usePlaces();

  async function readEvents(app: TestApp, merchant: Merchant, after?: string) {
    const query = after === undefined ? "" : `&after=${after}`;
    const { key } = merchant;
    const answer = await expectStatus(
      app.request("GET", `${merchant.path}/events?limit=100${query}`, { key }),
      200,
    );
    const { data, nextCursor } = answer.body as { data: { id: string }[]; nextCursor: string };
    return { ids: data.map(({ id }) => id), nextCursor };
  }

  /** Raises an event, and reads it after a cursor. */
  async function raise(app: TestApp, merchant: Merchant, after: string) {
    const { key, path } = merchant;
    const customer = app.request("POST", `${path}/customers`, { key, body: { name: "Bo" } });
    await expectStatus(customer, 201);
    return until(
      "an event",
      () => readEvents(app, merchant, after),
      ({ ids }) => ids.length > 0,
    );
  }

  it("refuses later event cursors, ends all sessions, and lists and records what came back", async () => {
    const place = await store.place("migrated");
    const file = join(await places.folder(), "a.tar");
    const first = await startApp({ place });
    const merchant = await approvedMerchant(first);
    // An event of before the backup that is listed only afterwards would not be lost.
    await until(
      "the places of the first events",
      () => first.app.db.all("SELECT id FROM events WHERE position IS NULL"),
      (waiting) => waiting.length === 0,
    );
    const early = await readEvents(first, merchant);
    expect(early.ids).not.to.deep.equal([]);
    const { manifest } = await back(place, file, { verify: "no" });
    const lost = await raise(first, merchant, early.nextCursor);
    await first.app.db.write(testContext, async (tx) => {
      await tx.run("UPDATE api_keys SET revoked_at = 1");
      await tx.run("DELETE FROM memberships");
    });
    await first.stop();

    const { newLife } = await restore(file, place, { verifies: false });
    expect(newLife?.endedSessions).to.equal(1);
    expect(newLife?.keys.map(({ name, isRevokedSince }) => [name, isRevokedSince])).to.deep.equal([
      ["shop", true],
    ]);
    expect(newLife?.returnedMembers.map(({ email }) => email)).to.deep.equal([merchant.email]);

    const second = await startApp({ place });
    try {
      const me = await second.request("GET", "/v1/me", { token: merchant.token });
      expect(me.status).to.equal(401);
      const { ids } = await raise(second, merchant, early.nextCursor);
      expect(ids).not.to.include(lost.ids[0]);
      const refused = await second.request(
        "GET",
        `${merchant.path}/events?after=${lost.nextCursor}`,
        { key: merchant.key },
      );
      expect(refused.status, refused.text).to.equal(400);
      const [error] = refused.body["errors"] as { code: string; message: string }[];
      expect(error?.code).to.equal("outdated_cursor");
      expect(error?.message).to.include(manifest.createdAt);
      const shared = /continue with (\S+),/.exec(error?.message ?? "")?.[1];
      expect((await readEvents(second, merchant, shared)).ids).to.deep.equal(ids);

      const [entry] = await second.app.db.find(auditLogs, "WHERE action = 'store.restored'");
      expect(entry).to.deep.include({ actorType: "operator", actorLabel: "tester@here" });
      expect(entry?.changes).to.deep.include({
        backup: "a.tar",
        backupCreatedAt: manifest.createdAt,
        endedSessions: 1,
      });
      expect(entry?.createdAt).to.be.closeTo(systemClock.now(), 60_000);
    } finally {
      await second.stop();
    }
  });

  if (store.dialect === "sqlite") {
    it("gets the secret of its backup together with the rows, and none if the restore fails", async () => {
      const place = await store.place("migrated");
      const file = join(await places.folder(), "a.tar");
      await back(place, file, { verify: "no", withSecret: true });
      const target = await places.sqlite();
      // A folder in the place of the store cannot be kept under a second name.
      const blocked = await places.sqlite();
      await mkdir(blocked.sqliteFile);
      const none = { TILL_SECRET: "" };
      const quick = { verifies: false };
      expect(await restore(file, blocked, quick, none).catch(String)).to.include("link");
      expect(await readdir(join(blocked.sqliteFile, ".."))).to.deep.equal(["till.db"]);
      await restore(file, target, quick, none);
      expect(await readdir(join(target.sqliteFile, ".."))).to.have.members(["till.db", "secret"]);
    });
  }
});
