import { expect } from "chai";
import type { App } from "../../../src/app.ts";
import { auditLogs } from "../../../src/platform/audit/chain.ts";
import type { Config } from "../../../src/platform/config/config.ts";
import { UniqueViolation } from "../../../src/platform/database/errors.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { events } from "../../../src/platform/events/outbox.ts";
import type { Id } from "../../../src/kernel/id.ts";
import { Problem } from "../../../src/kernel/errors.ts";
import { findWallet, raisePaidIndexes } from "../../../src/features/wallets/store.ts";
import { presentWallet, type CreateWalletInput } from "../../../src/features/wallets/records.ts";
import {
  archiveWallet,
  createWallet,
  listWallets,
  releaseWallet,
  takeAddresses,
} from "../../../src/features/wallets/wallets.ts";
import { continueIndexes } from "../../../src/features/wallets/after-restore.ts";
import { hasWideGap } from "../../../src/features/wallets/rules.ts";
import { organizations } from "../../../src/features/organizations/store.ts";
import { addressOwnerships, wallets } from "../../../src/features/wallets/table.ts";
import { deriveAddress, formatAddress } from "../../../src/platform/chain/evm/addresses.ts";
import { evmKind } from "../../../src/platform/chain/evm/kind.ts";
import { tronKind } from "../../../src/platform/chain/tron/kind.ts";
import { appOf, newIds, testConfig } from "../../support/context.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";
import { addOrganization, enabledNetworks, xpubs } from "../../support/merchants.ts";

const evmAddress = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const seed = "legal winner thank year wave sausage worth useful legal winner thank yellow";

async function refusal(work: Promise<unknown>): Promise<Problem> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

eachStore("the wallets API", (store) => {
  let db: Database;
  let app: App;
  let shop: Id<"organization">;
  let other: Id<"organization">;
  const networks = enabledNetworks("tron", "ethereum", "polygon");
  const ids = newIds();
  let now = 1_800_000_000_000;

  beforeEach(async () => {
    db = await store.open();
    app = limited(100, "off");
    shop = await addOrganization(db, ids, now);
    other = await addOrganization(db, ids, now);
    now += 1_000;
  });

  const limited = (walletsPerOrganization: number, verification: Config["verification"]) =>
    appOf({
      db,
      clock: { now: () => now },
      ids,
      networks,
      config: { ...testConfig, walletsPerOrganization, verification },
    });
  const create = (
    organizationId: Id<"organization">,
    input: Partial<CreateWalletInput> & { network: string },
  ) => createWallet(app, testContext, organizationId, { label: "Till", ...input });

  it("stores an address in canonical form and shows it in its network's notation", async () => {
    const wallet = await create(shop, { network: "ethereum", address: evmAddress.toLowerCase() });
    expect(wallet.address).to.equal(evmAddress.slice(2).toLowerCase());
    expect(presentWallet(wallet)).to.include({
      address: evmAddress,
      kind: "address",
      status: "active",
      nextIndex: null,
      highestPaidIndex: null,
      gapWarning: false,
    });
  });

  it("audits who registered what, and emits an event", async () => {
    const wallet = await create(shop, { network: "ethereum", address: evmAddress });
    const [entry] = await db.find(auditLogs, "WHERE target_id = $1 ORDER BY id", [wallet.id]);
    expect(entry?.action).to.equal("wallet.created");
    expect(entry?.changes).to.deep.include({ network: "ethereum", address: evmAddress });
    const [event] = await db.find(events, "WHERE object_id = $1 ORDER BY id", [wallet.id]);
    expect(event?.type).to.equal("wallet.created");
    expect(event?.payload).to.deep.equal(presentWallet(wallet));
  });

  describe("limits the wallets of an organization", () => {
    let place = 0;
    const fresh = () => `0x${(0xb00000 + (place += 1)).toString(16).padStart(40, "1")}`;
    const register = (limitedBy: App, owner = shop) =>
      createWallet(limitedBy, testContext, owner, {
        label: "Till",
        network: "ethereum",
        address: fresh(),
      });
    const setStanding = (change: object, owner = shop) =>
      db.write(testContext, (tx) => tx.update(organizations, change, "WHERE id = $1", [owner]));
    // No review has decided about it.
    afterEach(() => setStanding({ verificationStatus: "unverified", status: "active" }));
    const refusedAs = async (registering: Promise<unknown>, text: string) => {
      const problem = await refusal(registering);
      expect(problem).to.include({ status: 409, code: "wallet_limit" });
      expect(problem.message).to.include(text);
    };

    it("to two until it is approved, however many callers register at once", async () => {
      const strict = limited(100, "required");
      const callers = Array.from({ length: 64 }, () =>
        register(strict).then(
          () => null,
          (error: unknown) => error as Problem,
        ),
      );
      const refused = (await Promise.all(callers)).filter((problem) => problem !== null);
      expect(refused.map(({ code }) => code)).to.deep.equal(Array(62).fill("wallet_limit"));
      expect(await db.find(wallets, "WHERE organization_id = $1", [shop])).to.have.length(2);
      // Nobody else's wallets count.
      await register(strict, other);
      await refusedAs(register(strict), "not approved has at most 2 active wallets");
    });

    it("to twenty with those that it archived before its approval", async () => {
      const strict = limited(100, "required");
      for (let count = 0; count < 20; count += 1) {
        const { id } = await register(strict);
        await archiveWallet(app, testContext, shop, id);
      }
      await refusedAs(register(strict), "registers at most 20 wallets, archived ones included");
      await setStanding({ verificationStatus: "approved" });
      await register(strict);
    });

    it("to the operator's number once it is approved, and again to two if the approval is withdrawn", async () => {
      const strict = limited(5, "required");
      await register(strict);
      await register(strict);
      await refusedAs(register(strict), "wait for its approval");
      await setStanding({ verificationStatus: "approved" });
      await Promise.all([register(strict), register(strict), register(strict)]);
      await refusedAs(register(strict), "at most 5 active wallets");
      // Wallets beyond a lower limit stay.
      await setStanding({ verificationStatus: "rejected" });
      await refusedAs(register(strict), "at most 2 active wallets");
      const active = await listWallets(app, shop, { status: "active" });
      expect(active.data).to.have.length(5);
      expect(await register(limited(6, "off"))).to.include({ status: "active" });
    });

    it("to those of before if it is suspended while it registers one", async () => {
      const strict = limited(100, "required");
      await register(strict);
      await setStanding({ status: "suspended" });
      expect(await refusal(register(strict))).to.include({
        status: 403,
        code: "organization_suspended",
      });
      await setStanding({ status: "active" });
      await register(strict);
    });
  });

  it("refuses a network that is not enabled", async () => {
    const problem = await refusal(create(shop, { network: "bsc", address: evmAddress }));
    expect(problem).to.include({ status: 422, code: "network_not_enabled" });
  });

  it("refuses malformed, mistyped, foreign and missing addresses and names the field", async () => {
    const wrong = [
      [{ address: evmAddress.replace("5aA", "5aa") }, "checksum"],
      [{ address: "0x123" }, "malformed"],
      [{ address: "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8" }, "wrong_network"],
      [{}, "one_of"],
      [{ address: evmAddress, xpub: xpubs.first }, "one_of"],
    ] as const;
    for (const [input, code] of wrong) {
      const problem = await refusal(create(shop, { network: "ethereum", ...input }));
      expect(problem.status).to.equal(400);
      expect(problem.errors[0]).to.include({ pointer: "/address", code });
    }
  });

  it("refuses a secret clearly and neither repeats nor stores it", async () => {
    const secrets = [
      { address: "0x" + "4c".repeat(32) },
      { address: seed },
      { xpub: seed },
      { xpub: xpubs.privateKey },
    ];
    for (const input of secrets) {
      const problem = await refusal(create(shop, { network: "ethereum", ...input }));
      const pasted = Object.values(input)[0] ?? "";
      expect(problem.status).to.equal(400);
      expect(problem.errors[0]?.code).to.equal("secret");
      expect(JSON.stringify([problem.message, problem.errors])).not.to.include(pasted);
    }
    expect(await db.find(wallets, "")).to.deep.equal([]);
    expect(await db.find(addressOwnerships, "")).to.deep.equal([]);
  });

  it("refuses addresses at which funds would be lost", async () => {
    const lost = [
      { network: "ethereum", address: "0x" + "0".repeat(40) },
      { network: "ethereum", address: "0xdAC17F958D2ee523a2206206994597C13D831ec7" },
      // USDC of Ethereum, registered on another network of the same family.
      { network: "polygon", address: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48" },
      { network: "tron", address: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t" },
    ];
    for (const input of lost) {
      const problem = await refusal(create(shop, input));
      expect(problem).to.include({ status: 422, code: "wallet_address_refused" });
    }
  });

  it("allows an address to be active once per network, with the same message for own and other organizations", async () => {
    await create(shop, { network: "ethereum", address: evmAddress });
    const own = await refusal(create(shop, { network: "ethereum", address: evmAddress }));
    const foreign = await refusal(create(other, { network: "ethereum", address: evmAddress }));
    const elsewhere = await refusal(create(other, { network: "polygon", address: evmAddress }));
    expect(own).to.include({ status: 409, code: "wallet_address_unavailable" });
    expect(foreign.message).to.equal(own.message);
    expect(elsewhere.message).to.equal(own.message);
    // Its own second network of the family, and the same bytes in another family.
    await create(shop, { network: "polygon", address: evmAddress });
    const onTron = tronKind.formatAddress(evmAddress.slice(2).toLowerCase());
    await create(other, { network: "tron", address: onTron });
  });

  it("gives an address to one of many simultaneous registrations", async () => {
    const tries = Array.from({ length: 12 }, (_, place) =>
      create(place % 2 === 0 ? shop : other, {
        network: place % 3 === 0 ? "polygon" : "ethereum",
        address: evmAddress,
      }),
    );
    const settled = await Promise.allSettled(tries);
    const won = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    expect(new Set(won.map(({ organizationId }) => organizationId))).to.have.property("size", 1);
    expect(new Set(won.map(({ network }) => network))).to.have.property("size", won.length);
    for (const one of settled) {
      if (one.status === "rejected") expect(one.reason).to.have.property("status", 409);
    }
  });

  it("releases an address with its last active wallet, and not before", async () => {
    const first = await create(shop, { network: "ethereum", address: evmAddress });
    const second = await create(shop, { network: "polygon", address: evmAddress });
    await archiveWallet(app, testContext, shop, first.id);
    expect(
      await refusal(create(other, { network: "ethereum", address: evmAddress })),
    ).to.have.property("status", 409);
    const released = await releaseWallet(app, testContext, second.id);
    expect(released).to.include({ status: "archived", archivedAt: now });
    await create(other, { network: "ethereum", address: evmAddress });
  });

  it("archives once, without effect the second time; another's wallet gets 404", async () => {
    const wallet = await create(shop, { network: "ethereum", address: evmAddress });
    expect(await refusal(archiveWallet(app, testContext, other, wallet.id))).to.have.property(
      "status",
      404,
    );
    const archived = await archiveWallet(app, testContext, shop, wallet.id);
    now += 1_000;
    expect(await archiveWallet(app, testContext, shop, wallet.id)).to.deep.equal(archived);
    const told = await db.find(events, "WHERE object_id = $1 ORDER BY id", [wallet.id]);
    expect(told.map(({ type, objectVersion }) => [type, objectVersion])).to.deep.equal([
      ["wallet.created", 1],
      ["wallet.default_changed", 1],
      ["wallet.archived", 2],
    ]);
  });

  it("lists the newest first, by network and status, page by page", async () => {
    const made = [];
    for (const place of [1, 2, 3, 4]) {
      const address = "0x" + String(place).repeat(40);
      now += 1_000;
      made.push(await create(shop, { network: place === 2 ? "polygon" : "ethereum", address }));
    }
    await archiveWallet(app, testContext, shop, made[0]?.id ?? "wal_");
    const newestFirst = made.map(({ id }) => id).reverse();
    const first = await listWallets(app, shop, { limit: "3" });
    expect(first.data.map(({ id }) => id)).to.deep.equal(newestFirst.slice(0, 3));
    const rest = await listWallets(app, shop, { limit: "3", cursor: first.nextCursor ?? "" });
    expect(rest.data.map(({ id }) => id)).to.deep.equal(newestFirst.slice(3));
    expect(rest.nextCursor).to.equal(null);
    const active = await listWallets(app, shop, { network: "ethereum", status: "active" });
    expect(active.data.map(({ id }) => id)).to.deep.equal([made[3]?.id, made[2]?.id]);
    expect((await listWallets(app, other, {})).data).to.deep.equal([]);
  });

  describe("of an extended key", () => {
    const take = (walletId: Id<"wallet">) =>
      db.write(testContext, async (tx) => {
        const wallet = await findWallet(tx, shop, walletId);
        if (wallet?.xpub == null) throw new Error("no such key");
        const [taken = null] = await takeAddresses(
          tx,
          { ...wallet, xpub: wallet.xpub },
          evmKind,
          "merchant",
          1,
        );
        return taken;
      });

    it("shows the key's fingerprint, never the key", async () => {
      const wallet = await create(shop, { network: "ethereum", xpub: xpubs.first });
      const shown = presentWallet(wallet);
      expect(shown).to.include({ kind: "xpub", nextIndex: 0, highestPaidIndex: null });
      expect(shown.address).to.match(/^xpub:[0-9a-f]{8}…/);
      expect(JSON.stringify(shown)).not.to.include(xpubs.first);
    });

    it("assigns no index twice, however many are requested at once", async () => {
      const wallet = await create(shop, { network: "ethereum", xpub: xpubs.first });
      const taken = await Promise.all(Array.from({ length: 30 }, () => take(wallet.id)));
      const indexes = taken.map((one) => one?.index).sort((a, b) => (a ?? 0) - (b ?? 0));
      expect(indexes).to.deep.equal(Array.from({ length: 30 }, (_, place) => place));
      for (const one of taken)
        expect(one?.address).to.equal(deriveAddress(xpubs.first, one?.index ?? 0));
    });

    it("continues at the key's index, on another network and after archiving", async () => {
      const first = await create(shop, { network: "ethereum", xpub: xpubs.first });
      expect(await take(first.id)).to.include({ index: 0 });
      const second = await create(shop, { network: "polygon", xpub: xpubs.first });
      expect(second.nextIndex).to.equal(1);
      expect(await take(second.id)).to.include({ index: 1 });
      await archiveWallet(app, testContext, shop, first.id);
      await archiveWallet(app, testContext, shop, second.id);
      expect(await take(first.id)).to.equal(null);
      const again = await create(shop, { network: "ethereum", xpub: xpubs.first });
      expect(await take(again.id)).to.include({ index: 2 });
    });

    it("skips an address that is or was a wallet itself", async () => {
      const own = formatAddress(deriveAddress(xpubs.first, 1));
      const wallet = await create(shop, { network: "polygon", address: own });
      await archiveWallet(app, testContext, shop, wallet.id);
      const key = await create(shop, { network: "ethereum", xpub: xpubs.first });
      expect(await take(key.id)).to.include({ index: 0 });
      expect(await take(key.id)).to.include({ index: 2 });
    });

    /** Claims the addresses of some indexes, as earlier wallets have. */
    const claim = (from: number, to: number) =>
      db.write(testContext, (tx) =>
        tx.insertMany(
          addressOwnerships,
          Array.from({ length: to - from }, (_, place) => ({
            family: "evm",
            identity: deriveAddress(xpubs.first, from + place),
            organizationId: other,
            kind: "released" as const,
            nextIndex: 0,
            highestPaidIndex: null,
            keyIdentity: null,
            keyIndex: null,
            derivedState: null,
          })),
        ),
      );
    const takeSome = (walletId: Id<"wallet">, count: number, kind = evmKind) =>
      db.write(testContext, async (tx) => {
        const wallet = await findWallet(tx, shop, walletId);
        if (wallet?.xpub == null) throw new Error("no such key");
        const taken = await takeAddresses(
          tx,
          { ...wallet, xpub: wallet.xpub },
          kind,
          "merchant",
          count,
        );
        return taken.map(({ index }) => index);
      });

    it("assigns several at once, without those that are claimed, and no more than are wanted", async () => {
      await claim(1, 3);
      const key = await create(shop, { network: "ethereum", xpub: xpubs.first });
      expect(await takeSome(key.id, 4)).to.deep.equal([0, 3, 4, 5]);
      expect((await findWallet(db, shop, key.id))?.nextIndex).to.equal(6);
    });

    it("gives up after a hundred claimed addresses in a row", async () => {
      await claim(0, 60);
      await claim(61, 161);
      const key = await create(shop, { network: "ethereum", xpub: xpubs.first });
      expect(await takeSome(key.id, 1)).to.deep.equal([60]);
      expect(await takeSome(key.id, 1)).to.deep.equal([]);
      expect(await takeSome(key.id, 1)).to.deep.equal([161]);
    });

    it("ends with the last address of the key", async () => {
      const { extendedKeys } = evmKind;
      if (extendedKeys === null) throw new Error("the kind has no extended keys");
      const short = { ...evmKind, extendedKeys: { ...extendedKeys, addressCount: 2 } };
      const key = await create(shop, { network: "ethereum", xpub: xpubs.first });
      expect(await takeSome(key.id, 3, short)).to.deep.equal([0, 1]);
      expect(await takeSome(key.id, 1, short)).to.deep.equal([]);
    });

    it("skips a thousand addresses after a restore without the former store, and none behind the last", async () => {
      const keys = [
        await create(shop, { network: "ethereum", xpub: xpubs.first }),
        await create(shop, { network: "ethereum", xpub: xpubs.second }),
      ];
      const end = 2 ** 31;
      const indexes = [5, end - 1_000];
      await db.write(testContext, async (tx) => {
        for (const [place, { identity }] of keys.entries()) {
          const nextIndex = indexes[place] ?? 0;
          await tx.update(addressOwnerships, { nextIndex }, "WHERE identity = $1", [identity]);
        }
        await continueIndexes(tx, null);
      });
      const views = await Promise.all(keys.map(({ id }) => findWallet(db, shop, id)));
      expect(views.map((view) => view?.nextIndex)).to.deep.equal([1_005, end - 1_000]);
    });

    it("prevents a derived address from being registered", async () => {
      const key = await create(shop, { network: "ethereum", xpub: xpubs.first });
      const taken = await take(key.id);
      const address = formatAddress(taken?.address ?? "");
      for (const who of [shop, other]) {
        const problem = await refusal(create(who, { network: "polygon", address }));
        expect(problem).to.have.property("code", "wallet_address_unavailable");
      }
    });

    it("recognizes the same key within its family, however it is encoded", async () => {
      await create(shop, { network: "ethereum", xpub: xpubs.first });
      const problem = await refusal(
        create(other, { network: "polygon", xpub: ` ${xpubs.first} ` }),
      );
      expect(problem).to.have.property("code", "wallet_address_unavailable");
      await create(other, { network: "polygon", xpub: xpubs.second });
    });

    it("warns if more consecutive addresses are unpaid than most wallets scan", async () => {
      const key = await create(shop, { network: "ethereum", xpub: xpubs.first });
      const shown = async () => {
        const found = await findWallet(db, shop, key.id);
        return found === null ? null : presentWallet(found);
      };
      for (let count = 0; count < 20; count += 1) await take(key.id);
      expect(await shown()).to.include({ nextIndex: 20, highestPaidIndex: null, gapWarning: true });
      const paid = (index: number) =>
        db.write(testContext, (tx) => raisePaidIndexes(tx, new Map([[key.id, index]])));
      await paid(7);
      await paid(3);
      expect(await shown()).to.include({ highestPaidIndex: 7, gapWarning: false });
    });
  });

  it("has a wide gap from the twentieth unpaid address in a row on", () => {
    const states = [
      [19, null],
      [20, null],
      [27, 7],
      [28, 7],
    ] as const;
    const gaps = states.map(([nextIndex, highestPaidIndex]) =>
      hasWideGap({ nextIndex, highestPaidIndex }),
    );
    expect(gaps).to.deep.equal([false, true, false, true]);
  });

  it("is enforced by database constraints", async () => {
    const wallet = await create(shop, { network: "ethereum", address: evmAddress });
    const [row] = await db.find(wallets, "WHERE id = $1", [wallet.id]);
    if (row === undefined) throw new Error("the wallet is not stored");
    const twin = db.write(testContext, (tx) =>
      tx.insert(wallets, { ...row, id: "wal_twin", position: null }),
    );
    const error: unknown = await twin.catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(UniqueViolation);
    expect(error).to.have.property("index", "wallets_active");
  });
});
