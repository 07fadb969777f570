// The wallets at which invoices without a walletId are paid, and who may choose them.
import { expect } from "chai";
import { holds, invoices } from "../../../src/features/invoices/table.ts";
import { listDefaultWallets, setDefaultWallet } from "../../../src/features/wallets/defaults.ts";
import type { WalletView } from "../../../src/features/wallets/store.ts";
import { wallets } from "../../../src/features/wallets/table.ts";
import {
  archiveWallet,
  createWallet,
  releaseWallet,
} from "../../../src/features/wallets/wallets.ts";
import type { Actor } from "../../../src/kernel/actor.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import type { Id } from "../../../src/kernel/id.ts";
import { tronKind } from "../../../src/platform/chain/tron/kind.ts";
import { auditLogs } from "../../../src/platform/audit/chain.ts";
import { migrate } from "../../../src/platform/database/schema.ts";
import { UniqueViolation } from "../../../src/platform/database/errors.ts";
import { events } from "../../../src/platform/events/outbox.ts";
import {
  approvedMerchant,
  expectStatus,
  register,
  type Answer,
  colleague,
  eachServed,
  keyOf,
  platformAdmin,
  type Merchant,
} from "../../support/app.ts";
import { openLedger, refusal, type Ledger } from "../../support/ledger.ts";
import { xpubOf, xpubs } from "../../support/merchants.ts";
import { beforeNextWrite } from "../../support/store/before-next-write.ts";
import { contextOf, eachStore, testContext } from "../../support/store/stores.ts";
import { until } from "../../support/until.ts";

const evm = (digit: number | string) => ({ address: `0x${String(digit).repeat(40)}` });
const onTron = [
  "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8",
  "TNPeeaaFB7K9cmo4uQpcU32zGK8G1NYqeL",
  "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE",
].map((address) => ({ address }));

eachStore("default wallets", (store) => {
  let shop: Ledger;

  beforeEach(async () => {
    const db = await store.open();
    shop = await openLedger(db, "tron", "ethereum");
    await shop.scan("tron");
    await shop.scan("ethereum");
  });

  const keyActor = (organizationId = shop.organizationId): Actor => ({
    type: "api_key",
    id: shop.ids.next("apiKey", shop.now()),
    label: "shop",
    organizationId,
    scopes: ["read", "write", "billing"],
    createdBy: null,
    expiresAt: null,
  });
  /** Registers a wallet with an API key. */
  const addByKey = (
    network: string,
    receiver: { address: string } | { xpub: string },
    organizationId = shop.organizationId,
  ): Promise<WalletView> =>
    createWallet(shop.app, contextOf(keyActor(organizationId)), organizationId, {
      label: "By key",
      network,
      ...receiver,
    });
  const archive = ({ id }: WalletView) =>
    archiveWallet(shop.app, testContext, shop.organizationId, id);
  /** The default and the reserves of a network. */
  async function placesOn(network: string): Promise<readonly Id<"wallet">[]> {
    const all = await listDefaultWallets(shop.app, shop.organizationId);
    const found = all.find((each) => each.network === network);
    return (found?.wallets ?? []).map(({ walletId }) => walletId);
  }
  const refused = async (network = "tron") => (await refusal(shop.create({ network }))).code;

  describe("of a registered wallet", () => {
    it("is the organization's first wallet, whoever registers it, and no further one of a key", async () => {
      const first = await addByKey("tron", onTron[0] ?? evm(0));
      const second = await addByKey("tron", onTron[1] ?? evm(0));
      const elsewhere = await addByKey("ethereum", { xpub: xpubs.first });
      expect([first, second, elsewhere].map(({ position }) => position)).to.deep.equal([
        0,
        null,
        null,
      ]);
      expect(await shop.create()).to.have.property("walletId", first.id);
      expect(await refused("ethereum")).to.equal("no_default_wallet");
    });

    it("is the first one of each network that an owner or the operator registers, and no later one", async () => {
      const first = await shop.addWallet("tron", onTron[0] ?? evm(0));
      const elsewhere = await shop.addWallet("ethereum", evm(1));
      const later = await shop.addWallet("ethereum", { xpub: xpubs.first });
      expect([first, elsewhere, later].map(({ position }) => position)).to.deep.equal([0, 0, null]);
      await archive(elsewhere);
      const afterwards = await shop.addWallet("ethereum", { xpub: xpubs.second });
      expect(afterwards.position).to.equal(null);
      expect(await refused("ethereum")).to.equal("no_default_wallet");
    });

    it("is never that of a key in an organization that has archived all its wallets", async () => {
      await archive(await shop.addWallet("ethereum", evm(1)));
      const thief = await addByKey("tron", onTron[0] ?? evm(0));
      expect(thief.position).to.equal(null);
      expect(await refused()).to.equal("no_default_wallet");
    });

    it("is one of 64 that keys register at once on two networks", async () => {
      const made = await Promise.all(
        Array.from({ length: 64 }, (_, place) => {
          const address = tronKind.formatAddress(String(place).padStart(40, "7"));
          return place % 2 === 0
            ? addByKey("tron", { address })
            : addByKey("ethereum", { xpub: xpubOf(place) });
        }),
      );
      expect(made.filter(({ position }) => position === 0)).to.have.length(1);
      expect(await shop.db.find(wallets, "WHERE position IS NOT NULL")).to.have.length(1);
    });

    it("is one for each network, of 64 that the operator registers at once", async () => {
      await Promise.all(
        Array.from({ length: 64 }, (_, place) =>
          shop.addWallet("ethereum", { xpub: xpubOf(place) }),
        ).concat(onTron.map((receiver) => shop.addWallet("tron", receiver))),
      );
      const rows = await shop.db.find(wallets, "WHERE position IS NOT NULL");
      expect(rows.map(({ network, position }) => [network, position])).to.have.deep.members([
        ["ethereum", 0],
        ["tron", 0],
      ]);
    });

    it("announces that it is the default, under the version of its registration", async () => {
      const first = await shop.addWallet("tron", onTron[0] ?? evm(0));
      const second = await shop.addWallet("tron", onTron[1] ?? evm(0));
      const typesOf = async ({ id }: WalletView) =>
        (await shop.db.find(events, "WHERE object_id = $1 ORDER BY id", [id])).map(
          ({ type, objectVersion, payload }) => [type, objectVersion, payload["isDefault"]],
        );
      expect(await typesOf(first)).to.deep.equal([
        ["wallet.created", 1, true],
        ["wallet.default_changed", 1, true],
      ]);
      expect(await typesOf(second)).to.deep.equal([["wallet.created", 1, false]]);
    });
  });

  describe("of an invoice", () => {
    it("are tried in the order that was chosen, and no other wallet is", async () => {
      const [first, second] = [
        await shop.addWallet("ethereum", evm(1)),
        await shop.addWallet("ethereum", evm(2)),
      ];
      await shop.addWallet("ethereum", { xpub: xpubs.first });
      await shop.setDefault("ethereum", second.id, first.id);
      const issued = () => shop.create({ network: "ethereum" });
      expect(await issued()).to.have.property("walletId", second.id);
      await archive(second);
      expect(await issued()).to.have.property("walletId", first.id);
      await archive(first);
      const problem = await refusal(issued());
      expect(problem).to.include({ status: 409, code: "no_default_wallet" });
      expect(problem.message)
        .to.include("/default-wallets/ethereum")
        .and.include("till wallet default --network ethereum");
      expect(await placesOn("ethereum")).to.deep.equal([second.id, first.id]);
    });

    it("leave the network without a default if the operator releases it", async () => {
      const wallet = await shop.addWallet("tron", onTron[0] ?? evm(0));
      await shop.addWallet("tron", onTron[1] ?? evm(0));
      await releaseWallet(shop.app, testContext, wallet.id);
      expect(await refused()).to.equal("no_default_wallet");
    });

    it("are missing on a network without any wallet, whose answer is no_wallet", async () => {
      await shop.addWallet("tron", onTron[0] ?? evm(0));
      expect(await refusal(shop.create({ network: "ethereum" }))).to.include({
        status: 422,
        code: "no_wallet",
      });
    });

    it("are read again when it is issued, so that a change in between applies", async () => {
      const [first, second] = [
        await shop.addWallet("tron", onTron[0] ?? evm(0)),
        await shop.addWallet("tron", onTron[1] ?? evm(0)),
      ];
      beforeNextWrite(shop.db, () => shop.setDefault("tron", second.id));
      expect(await shop.create()).to.have.property("walletId", second.id);
      beforeNextWrite(shop.db, () => archive(second));
      expect(await refused()).to.equal("no_default_wallet");
      beforeNextWrite(shop.db, () => shop.setDefault("tron", first.id));
      expect(await refusal(shop.create({ walletId: second.id }))).to.have.property(
        "code",
        "no_wallet",
      );
    });

    it("are never both an old and a new one, while 64 invoices are issued and the default changes", async () => {
      const [first, second] = [
        await shop.addWallet("tron", onTron[0] ?? evm(0)),
        await shop.addWallet("tron", onTron[1] ?? evm(0)),
      ];
      let isChanged = false;
      const change = shop.setDefault("tron", second.id).then(() => (isChanged = true));
      const issued = await Promise.all(
        Array.from({ length: 64 }, async (_, place) => {
          if (place % 2 === 1) await new Promise((resolve) => setTimeout(resolve, place));
          const isLater = isChanged;
          return { isLater, walletId: (await shop.create()).walletId };
        }),
      );
      await change;
      for (const { isLater, walletId } of issued) {
        expect(walletId).to.be.oneOf(isLater ? [second.id] : [first.id, second.id]);
      }
    });
  });

  describe("that are chosen", () => {
    it("are audited with the wallets before, and announced for each wallet whose part changes", async () => {
      const made = [];
      for (const receiver of onTron) made.push(await shop.addWallet("tron", receiver));
      const [first, second, third] = made.map(({ id }) => id);
      if (first === undefined || second === undefined || third === undefined) throw new Error();
      await shop.setDefault("tron", second, first);
      const [entry] = await shop.db.find(auditLogs, "WHERE action = 'wallet.default_changed'");
      expect(entry).to.deep.include({ targetId: second, targetType: "wallet" });
      expect(entry?.changes).to.deep.equal({
        network: "tron",
        walletId: { from: first, to: second },
        reserveWalletIds: { from: [], to: [first] },
      });
      const announced = async () =>
        (await shop.db.find(events, "WHERE type = 'wallet.default_changed' ORDER BY id")).map(
          ({ objectId, objectVersion, payload }) => [
            objectId,
            objectVersion,
            payload["isDefault"],
            payload["reservePosition"],
          ],
        );
      expect((await announced()).slice(1)).to.have.deep.members([
        [first, 2, false, 1],
        [second, 2, true, null],
      ]);
      await shop.setDefault("tron", second, first);
      expect(await announced()).to.have.length(3);
      await shop.setDefault("tron", first, second, third);
      await shop.setDefault("tron", third);
      expect(await placesOn("tron")).to.deep.equal([third]);
      expect((await announced()).slice(-3)).to.have.deep.members([
        [first, 4, false, null],
        [second, 4, false, null],
        [third, 3, true, null],
      ]);
    });

    it("must be active, on the network, the organization's, and named once", async () => {
      const wallet = await shop.addWallet("tron", onTron[0] ?? evm(0));
      const elsewhere = await shop.addWallet("ethereum", evm(1));
      const foreign = await shop.addWallet(
        "tron",
        onTron[1] ?? evm(0),
        await shop.addOrganization(),
      );
      const archived = await shop.addWallet("tron", onTron[2] ?? evm(0));
      await archive(archived);
      const unknown = shop.ids.next("wallet", shop.now());
      for (const [ids, status, code] of [
        [[foreign.id], 404, "not_found"],
        [[wallet.id, foreign.id], 404, "not_found"],
        [[unknown], 404, "not_found"],
        [[elsewhere.id], 422, "default_wallet_unusable"],
        [[archived.id], 422, "default_wallet_unusable"],
        [[wallet.id, archived.id], 422, "default_wallet_unusable"],
        [[wallet.id, wallet.id], 400, "invalid_request"],
      ] as const) {
        expect(await refusal(shop.setDefault("tron", ...ids))).to.include({ status, code });
      }
      expect(await refusal(shop.setDefault("bsc", wallet.id))).to.include({
        code: "network_not_enabled",
      });
      expect(await placesOn("tron")).to.deep.equal([wallet.id]);
      expect(await placesOn("ethereum")).to.deep.equal([elsewhere.id]);
    });

    it("are refused to a key and to a user who has lost the role, inside the transaction too", async () => {
      const wallet = await shop.addWallet("tron", onTron[0] ?? evm(0));
      const input = { walletId: wallet.id, reserveWalletIds: [] };
      const set = (actor: Actor) =>
        setDefaultWallet(shop.app, contextOf(actor), shop.organizationId, "tron", input);
      expect(await refusal(set(keyActor()))).to.include({ status: 403, code: "forbidden" });
      const former = {
        type: "user",
        id: shop.ids.next("user", shop.now()),
        label: "former@example.com",
        sessionId: shop.ids.next("session", shop.now()),
        platformRole: "none",
      } as const;
      expect(await refusal(set(former))).to.have.property("status", 404);
    });

    it("are either refused or archived afterwards, when one is archived at the same time", async () => {
      const first = await shop.addWallet("ethereum", { xpub: xpubOf(1) });
      for (let round = 2; round < 12; round += 1) {
        const wallet = await shop.addWallet("ethereum", { xpub: xpubOf(round) });
        const [chosen] = await Promise.allSettled([
          shop.setDefault("ethereum", wallet.id, first.id),
          archive(wallet),
        ]);
        if (chosen.status === "rejected") {
          expect(chosen.reason).to.have.property("code", "default_wallet_unusable");
        } else expect((await placesOn("ethereum"))[0]).to.equal(wallet.id);
        const issued = await shop.create({ network: "ethereum" });
        expect(issued.walletId).to.equal(first.id);
        await shop.setDefault("ethereum", first.id);
      }
    });

    it("are one choice after 16 simultaneous ones", async () => {
      const made: Id<"wallet">[] = [];
      for (let place = 0; place < 4; place += 1) {
        made.push((await shop.addWallet("ethereum", { xpub: xpubOf(place) })).id);
      }
      const choices = Array.from(
        { length: 16 },
        (_, place) => [made[place % 4] ?? "wal_", made[(place + 1) % 4] ?? "wal_"] as const,
      );
      await Promise.all(choices.map((ids) => shop.setDefault("ethereum", ...ids)));
      expect(choices.map((ids) => ids.join())).to.include((await placesOn("ethereum")).join());
    });

    it("cannot be two of one network, by a constraint of the database", async () => {
      const wallet = await shop.addWallet("tron", onTron[0] ?? evm(0));
      const row = await shop.db.findOne(wallets, "WHERE id = $1", [wallet.id]);
      if (row === null) throw new Error("the wallet is not stored");
      const twin = shop.db.write(testContext, (tx) =>
        tx.insert(wallets, { ...row, id: "wal_twin", identity: "other" }),
      );
      const error: unknown = await twin.catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(UniqueViolation);
      expect(error).to.have.property("index", "wallets_position");
    });
  });

  describe("of an upgraded store", () => {
    it("are the wallets that were tried first until then, and leave open invoices as they are", async () => {
      const made: Record<string, WalletView> = {};
      const add = async (
        name: string,
        network: string,
        receiver: { address: string } | { xpub: string },
      ) => {
        shop.advance(1);
        made[name] = await shop.addWallet(network, receiver);
      };
      await add("old key", "ethereum", { xpub: xpubOf(1) });
      await add("new key", "ethereum", { xpub: xpubOf(2) });
      await add("archived key", "ethereum", { xpub: xpubOf(3) });
      await add("newest address", "ethereum", evm(1));
      await add("old address", "tron", onTron[0] ?? evm(0));
      await add("new address", "tron", onTron[1] ?? evm(0));
      const archivedKey = made["archived key"];
      if (archivedKey !== undefined) await archive(archivedKey);
      for (const walletId of [made["newest address"]?.id, made["old key"]?.id]) {
        await shop.create({ network: "ethereum", walletId });
      }
      await shop.create({ walletId: made["old address"]?.id });
      const stored = async () => [
        await shop.db.find(invoices, "ORDER BY id"),
        await shop.db.find(holds, "ORDER BY invoice_id"),
      ];
      const before = await stored();
      await shop.db.write(testContext, async (tx) => {
        await tx.run("DROP INDEX wallets_position");
        await tx.run("ALTER TABLE wallets DROP COLUMN position");
        await tx.run("ALTER TABLE wallets DROP COLUMN version");
        await tx.run("DELETE FROM schema_versions WHERE version = 37");
      });
      await migrate(shop.db, systemClock);
      expect(await stored()).to.deep.equal(before);
      expect(await placesOn("ethereum")).to.deep.equal([made["new key"]?.id]);
      expect(await placesOn("tron")).to.deep.equal([made["new address"]?.id]);
      expect(await shop.create()).to.have.property("walletId", made["new address"]?.id);
      const rows = await shop.db.find(wallets, "ORDER BY id");
      for (const { status, version } of rows) {
        expect(version).to.equal(status === "archived" ? 2 : 1);
      }
    });
  });
});

eachServed("the default wallet over HTTP", (served) => {
  let shop: Merchant;
  let own: string;
  let made = 0;

  const call = (
    method: string,
    path: string,
    credential: { readonly key?: string; readonly token?: string },
    body?: unknown,
  ): Promise<Answer> =>
    served.app.request(method, `/v1/organizations/${shop.organizationId}${path}`, {
      ...credential,
      body,
    });
  const priced = { amount: "25.00", settlementCurrency: "USD", tokenSymbol: "USDT" };
  const order = { ...priced, network: "sandbox" };
  const fresh = () => {
    made += 1;
    return {
      label: "Till",
      network: "sandbox",
      address: `0x${made.toString(16).padStart(40, "d")}`,
    };
  };
  async function register201(credential: object, receiver: object = fresh()): Promise<string> {
    const { body } = await expectStatus(call("POST", "/wallets", credential, receiver), 201);
    return String(body["id"]);
  }

  beforeEach(async () => {
    shop = await approvedMerchant(served.app);
    own = await register201({ token: shop.token });
    await until(
      "a scanned network",
      () => call("POST", "/invoices", { key: shop.key }, { ...order, amount: "1.00" }),
      ({ status }) => status === 201,
    );
  });

  it("is not moved by a stolen key of read and write that registers an extended key and archives the old wallet", async () => {
    const key = { key: shop.key };
    made += 1;
    const thief = await register201(key, {
      label: "Mine",
      network: "sandbox",
      xpub: xpubOf(100 + made),
    });
    const issue = (more: object = {}) => call("POST", "/invoices", key, { ...order, ...more });
    expect((await expectStatus(issue(), 201)).body).to.have.property("walletId", own);
    const draft = await expectStatus(issue({ draft: true }), 201);
    const link = await expectStatus(
      call("POST", "/payment-links", key, { ...order, amount: "7.00" }),
      201,
    );
    const choice = await expectStatus(
      call("POST", "/invoices", key, {
        amount: "9.00",
        settlementCurrency: "USD",
        paymentOptions: ["USDT", "USDC"].map((tokenSymbol) => ({
          network: "sandbox",
          tokenSymbol,
        })),
      }),
      201,
    );
    await expectStatus(call("POST", `/wallets/${own}/archive`, key), 200);
    expect((await expectStatus(issue(), 409)).body).to.have.property("code", "no_default_wallet");
    const open = call("PATCH", `/invoices/${String(draft.body["id"])}`, key, { status: "open" });
    expect((await expectStatus(open, 409)).body).to.have.property("code", "no_default_wallet");
    const batch = await expectStatus(
      call("POST", "/invoices/batch", key, { invoices: [{ ...order, externalId: "batched" }] }),
      200,
    );
    expect(JSON.stringify(batch.body)).to.include("no_default_wallet").and.not.to.include(thief);
    const paid = await served.app.request("POST", `/link/${String(link.body["id"])}`, { body: {} });
    expect(paid.text).not.to.include(thief);
    const chosen = await served.app.request(
      "POST",
      `/v1/checkout/${String(choice.body["checkoutId"])}/option`,
      { body: { network: "sandbox", tokenSymbol: "USDC" } },
    );
    expect([chosen.status, chosen.body["code"]]).to.deep.equal([409, "no_default_wallet"]);
    expect(chosen.text).not.to.include("default-wallets");
    // A second one, after every wallet is archived.
    await expectStatus(call("POST", `/wallets/${thief}/archive`, key), 200);
    await register201(key);
    expect((await expectStatus(issue(), 409)).body).to.have.property("code", "no_default_wallet");
    const all = await served.app.app.db.find(invoices, "WHERE organization_id = $1", [
      shop.organizationId,
    ]);
    expect(new Set(all.map(({ walletId }) => walletId))).to.deep.equal(new Set([own, null]));
  });

  it("is not moved through the payment policy of the organization by a key or an admin", async () => {
    const thief = await register201({ key: shop.key });
    const admin = await colleague(served.app, shop, "admin");
    const naming = (walletId: string | null) => ({
      paymentOptions: [{ network: "sandbox", tokenSymbol: "USDT", walletId }],
    });
    const set = (credential: object, body: object) =>
      call("PATCH", "/payment-policy", credential, body);
    for (const credential of [{ key: shop.key }, { token: admin.token }]) {
      expect((await expectStatus(set(credential, naming(thief)), 403)).body["detail"]).to.include(
        "owner",
      );
      await expectStatus(set(credential, naming(null)), 200);
    }
    const usual = { amount: "25.00", settlementCurrency: "USD" };
    const issued = await expectStatus(call("POST", "/invoices", { key: shop.key }, usual), 201);
    expect(issued.body).to.have.property("walletId", own);
    await expectStatus(set({ token: shop.token }, naming(own)), 200);
    // The same wallets as before may be named again, in order to change something else.
    await expectStatus(set({ key: shop.key }, { ...naming(own), lateWindowDays: 3 }), 200);
    await expectStatus(set({ key: shop.key }, naming(thief)), 403);
  });

  it("is chosen by an owner's session alone: 403 for every key and other role, 404 for another tenant", async () => {
    const other = await register201({ token: shop.token });
    const set = (credential: object, walletId = other, path = "/default-wallets/sandbox") =>
      call("PUT", path, credential, { walletId });
    for (const scopes of [["read"], ["read", "write"], ["read", "write", "billing"]]) {
      const answer = await expectStatus(
        set({ key: await keyOf(served.app, shop, ...scopes) }),
        403,
      );
      expect(answer.body["detail"]).to.include("No API key may do this");
    }
    for (const role of ["viewer", "member", "admin"] as const) {
      await expectStatus(set({ token: (await colleague(served.app, shop, role)).token }), 403);
    }
    const platform = await platformAdmin(served.app);
    const platformKey = await keyOf(served.app, platform, "read", "write", "platform");
    const stranger = await register(served.app);
    for (const credential of [
      { token: stranger.token },
      { token: platform.token },
      { key: platformKey },
    ]) {
      await expectStatus(set(credential), 404);
    }
    await expectStatus(set({ token: shop.token }, other, "/default-wallets/nowhere"), 422);
    await expectStatus(set({ token: shop.token }, other, "/default-wallets/%00"), 404);
    const { body } = await expectStatus(call("GET", "/default-wallets", { key: shop.key }), 200);
    expect(body["data"]).to.deep.equal([
      { network: "sandbox", walletId: own, reserveWalletIds: [], canReceive: true },
    ]);
    const changed = await expectStatus(set({ token: shop.token }), 200);
    expect(changed.body).to.deep.equal({
      network: "sandbox",
      walletId: other,
      reserveWalletIds: [],
      canReceive: true,
    });
    expect((await call("GET", `/wallets/${other}`, { key: shop.key })).body).to.include({
      isDefault: true,
      reservePosition: null,
    });
    const issued = await call("POST", "/invoices", { key: shop.key }, order);
    expect(issued.body).to.have.property("walletId", other);
    // The platform's key cannot move that of its own organization either.
    const home = `/v1/organizations/${platform.organizationId}/default-wallets/sandbox`;
    const answer = await served.app.request("PUT", home, {
      key: platformKey,
      body: { walletId: own },
    });
    expect(answer.status).to.equal(403);
  });

  it("cannot be a wallet of another organization, even for the owner of both", async () => {
    const second = await expectStatus(
      served.app.request("POST", "/v1/organizations", {
        token: shop.token,
        body: { name: "Second" },
      }),
      201,
    );
    const home = `/v1/organizations/${String(second.body["id"])}/default-wallets/sandbox`;
    const answer = await served.app.request("PUT", home, {
      token: shop.token,
      body: { walletId: own },
    });
    expect(answer.status).to.equal(404);
  });

  it("may have at most 20 reserves", async () => {
    const reserveWalletIds = Array.from({ length: 21 }, () => "wal_01kq3v5m8w2f6n9r4t7x0z1c3e");
    const answer = await call(
      "PUT",
      "/default-wallets/sandbox",
      { token: shop.token },
      { walletId: own, reserveWalletIds },
    );
    expect([answer.status, answer.body["code"]]).to.deep.equal([400, "invalid_request"]);
  });
});
