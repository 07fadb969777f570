import { expect } from "chai";
import { receiveTarget } from "../../../../src/features/billing/invoices/receive-wallet.ts";
import { auditLogs } from "../../../../src/platform/audit/chain.ts";
import {
  expectStatus,
  platformAdmin,
  register,
  startApp,
  type Person,
  type TestApp,
} from "../../../support/app.ts";
import { xpubs } from "../../../support/merchants.ts";
import { eachStore } from "../../../support/store/stores.ts";

const path = "/v1/admin/billing/receive-wallet";
const nothing = { wallet: null, tokenSymbol: null, network: null, updatedAt: null };

eachStore("the platform's receive wallet", (store) => {
  let app: TestApp;
  let admin: Person;

  beforeEach(async () => {
    app = await startApp({ place: await store.place("migrated"), background: false });
    admin = await platformAdmin(app);
  });
  afterEach(() => app.stop());

  async function addWallet(owner: Person, xpub: string): Promise<string> {
    const added = app.request("POST", `${owner.path}/wallets`, {
      token: owner.token,
      body: { label: "Till", network: "sandbox", xpub },
    });
    return (await expectStatus(added, 201)).body["id"] as string;
  }
  const set = (walletId: string, tokenSymbol = "USDT") =>
    app.request("PUT", path, { token: admin.token, body: { walletId, tokenSymbol } });
  const get = async () =>
    (await expectStatus(app.request("GET", path, { token: admin.token }), 200)).body;
  const target = () => receiveTarget(app.app.db, app.app);

  it("is null until it is set to one of the platform's own wallets", async () => {
    expect(await get()).to.deep.equal(nothing);
    expect(await target()).to.equal(null);
    const walletId = await addWallet(admin, xpubs.first);
    const { body } = await expectStatus(set(walletId), 200);
    expect(body).to.include({ tokenSymbol: "USDT", network: "sandbox" });
    expect((body["wallet"] as { id: string }).id).to.equal(walletId);
    expect(await get()).to.deep.equal(body);
    const wallets = await app.request("GET", "/v1/admin/billing/wallets", { token: admin.token });
    expect(wallets.body["data"]).to.deep.equal([body["wallet"]]);
    expect((await target())?.token.symbol).to.equal("USDT");
  });

  it("is changed with an audit entry, and left alone when the same wallet is set again", async () => {
    const walletId = await addWallet(admin, xpubs.first);
    const first = await expectStatus(set(walletId), 200);
    app.clock.advance(60_000);
    expect((await expectStatus(set(walletId), 200)).body).to.deep.equal(first.body);
    await expectStatus(set(walletId, "USDC"), 200);
    const entries = await app.app.db.find(auditLogs, "WHERE action = $1 ORDER BY id", [
      "receive_wallet.set",
    ]);
    expect(entries.map(({ changes }) => changes["tokenSymbol"])).to.deep.equal([
      { from: null, to: "USDT" },
      { from: "USDT", to: "USDC" },
    ]);
  });

  it("refuses a wallet of another organization with 404, and one that cannot receive the token with 422", async () => {
    const merchant = await register(app);
    await expectStatus(set(await addWallet(merchant, xpubs.second)), 404);
    await expectStatus(set("wal_01kq3v5m8w2f6n9r4t7x0z1c3e"), 404);
    const walletId = await addWallet(admin, xpubs.first);
    const unknown = await expectStatus(set(walletId, "DOGE"), 422);
    expect(unknown.body["code"]).to.equal("receive_wallet_unusable");
    expect(unknown.body["detail"]).to.contain("USDT, USDC");
    await archive(walletId);
    await expectStatus(set(walletId), 422);
    expect(await get()).to.deep.equal(nothing);
    const body = { walletId, tokenSymbol: "USDT" };
    await expectStatus(app.request("PUT", path, { token: merchant.token, body }), 403);
  });

  it("is no longer used once it is archived, and shows that it is archived", async () => {
    const walletId = await addWallet(admin, xpubs.first);
    await expectStatus(set(walletId), 200);
    await archive(walletId);
    expect((await get())["wallet"]).to.include({ id: walletId, status: "archived" });
    expect(await target()).to.equal(null);
  });

  it("is one of two wallets that are set concurrently", async () => {
    const [first, second] = [
      await addWallet(admin, xpubs.first),
      await addWallet(admin, xpubs.second),
    ];
    const answers = await Promise.all([set(first), set(second, "USDC")]);
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
    const { wallet, tokenSymbol } = await get();
    const { id } = wallet as { id: string };
    expect([`${first} USDT`, `${second} USDC`]).to.include(`${id} ${String(tokenSymbol)}`);
  });

  const archive = (walletId: string) =>
    expectStatus(
      app.request("POST", `${admin.path}/wallets/${walletId}/archive`, {
        token: admin.token,
      }),
      200,
    );
});
