// The identity and permissions of a credential, over HTTP, on both databases.
import { expect } from "chai";
import { addMembership } from "../../../src/features/members/members.ts";
import {
  colleague,
  eachServed,
  expectStatus,
  keyOf,
  platformAdmin,
  register,
} from "../../support/app.ts";
import { testContext } from "../../support/store/stores.ts";

interface Me {
  readonly type: string;
  readonly user: Readonly<Record<string, unknown>> | null;
  readonly apiKey: Readonly<Record<string, unknown>> | null;
  readonly organizations: readonly {
    readonly organizationId: string;
    readonly organizationName: string;
    readonly organizationStatus: string;
    readonly role: string | null;
    readonly permissions: readonly string[];
  }[];
  readonly platformPermissions: readonly string[];
}

eachServed(
  "the credential's own description",
  (served) => {
    const me = async (credential: { token?: string; key?: string }): Promise<Me> =>
      (await expectStatus(served.app.request("GET", "/v1/me", credential), 200))
        .body as unknown as Me;

    it("shows a user their organizations, with the permissions of their role in each", async () => {
      const { app } = served;
      const ada = await register(app);
      const bob = await register(app, "Bob");
      const { db, clock } = app.app;
      await db.write(testContext, (tx) =>
        addMembership(tx, app.app, clock.now(), {
          userId: ada.userId as `usr_${string}`,
          organizationId: bob.organizationId as `org_${string}`,
          role: "viewer",
        }),
      );
      const told = await me(ada);
      expect([told.type, told.apiKey]).to.deep.equal(["user", null]);
      expect(told.user).to.include({ id: ada.userId, email: ada.email, platformRole: "none" });
      expect(told.platformPermissions).to.deep.equal([]);
      const [own, other, ...rest] = told.organizations;
      expect(rest).to.deep.equal([]);
      expect(own).to.deep.include({
        organizationId: ada.organizationId,
        organizationName: "Ada's shop",
        organizationStatus: "active",
        role: "owner",
      });
      expect(own?.permissions).to.include.members(["api-keys:write", "billing:write"]);
      expect(own?.permissions.join()).not.to.include("platform");
      expect(other).to.deep.equal({
        organizationId: bob.organizationId,
        organizationName: "Bob's shop",
        organizationStatus: "active",
        role: "viewer",
        permissions: [
          ...["organization:read", "organizations:create", "networks:read", "members:read"],
          ...["api-keys:read", "customers:read", "wallets:read", "webhooks:read", "events:read"],
          ...["invoices:read", "payment-links:read", "payments:read", "transfers:read"],
          ...["refunds:read", "exports:read", "analytics:read", "audit-logs:read", "billing:read"],
        ],
      });
    });

    it("shows an API key its scopes and its organization", async () => {
      const { app } = served;
      const ada = await register(app);
      const told = await me({ key: await keyOf(app, ada, "write") });
      expect([told.type, told.user]).to.deep.equal(["api_key", null]);
      expect(told.apiKey).to.include({ name: "write", createdBy: ada.userId, expiresAt: null });
      expect(told.apiKey?.["scopes"]).to.deep.equal(["write"]);
      expect(told.organizations.map(({ role }) => role)).to.deep.equal([null]);
      expect(told.organizations[0]?.organizationId).to.equal(ada.organizationId);
      expect(told.organizations[0]?.permissions)
        .to.include.members(["organization:read", "invoices:write"])
        .and.not.include("billing:write");
      const shop = await me({ key: await keyOf(app, ada, "shop") });
      expect(shop.organizations[0]?.permissions).to.deep.equal([
        ...["organization:read", "networks:read", "customers:read", "customers:write"],
        ...["events:read", "invoices:read", "invoices:write", "payment-links:read"],
        ...["payment-links:write", "payments:read", "refunds:read", "refunds:request"],
      ]);
      const text = JSON.stringify(told);
      expect(text).not.to.match(/secret|till_test/);
    });

    it("is available to a key without permissions, and not without a credential", async () => {
      const { app } = served;
      const admin = await platformAdmin(app);
      const key = await me({ key: await keyOf(app, admin, "platform") });
      expect(key.organizations.map(({ permissions }) => permissions)).to.deep.equal([[]]);
      expect(key.platformPermissions).to.deep.equal(["platform:read", "platform:write"]);
      expect((await me(admin)).platformPermissions).to.deep.equal(key.platformPermissions);
      const viewer = await colleague(app, admin, "viewer");
      expect((await me(viewer)).platformPermissions).to.deep.equal([]);
      await expectStatus(app.request("GET", "/v1/me"), 401);
      await expectStatus(app.request("GET", "/v1/me", { key: "till_test_nonsense" }), 401);
    });

    it("reflects a suspension, a removal and a revoked key on the next request", async () => {
      const { app } = served;
      const ada = await register(app);
      const guest = await colleague(app, ada, "member");
      const token = await keyOf(app, ada, "read");
      const run = (sql: string, id: string) =>
        app.app.db.write(testContext, (tx) => tx.run(sql, [id]));
      await run("UPDATE organizations SET status = 'suspended' WHERE id = $1", ada.organizationId);
      const statuses = (await me({ key: token })).organizations.map(
        (one) => one.organizationStatus,
      );
      expect(statuses).to.deep.equal(["suspended"]);
      await run("DELETE FROM memberships WHERE user_id = $1", guest.userId);
      expect((await me(guest)).organizations).to.deep.equal([]);
      await run(
        "UPDATE api_keys SET revoked_at = 1 WHERE organization_id = $1",
        ada.organizationId,
      );
      await expectStatus(app.request("GET", "/v1/me", { key: token }), 401);
    });
  },
  { background: false },
);
