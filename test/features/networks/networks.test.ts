// The list of networks over HTTP, on both databases.
import { expect } from "chai";
import { approvedMerchant, eachServed, expectStatus } from "../../support/app.ts";
import { testContext } from "../../support/store/stores.ts";

type Json = Readonly<Record<string, unknown>>;

const secret = "https://rpc.example.com/a-secret-path";

eachServed(
  "the networks",
  (served) => {
    it("that are enabled are listed with what invoices need, without providers", async () => {
      const { app } = served;
      const { key, token } = await approvedMerchant(app);
      const answer = await expectStatus(app.request("GET", "/v1/networks", { key }), 200);
      const networks = answer.body["data"] as Json[];
      expect(networks.map(({ id }) => id)).to.deep.equal(["sandbox", "tron"]);
      expect(networks[1]).to.deep.equal({
        id: "tron",
        title: "TRON",
        tokenStandard: "TRC-20",
        isTest: false,
        chainId: 728126428,
        requiredConfirmations: 7,
        finalConfirmations: 20,
        tokens: [
          {
            symbol: "USDT",
            title: "Tether USD",
            decimals: 6,
            minimumAmount: "0.01",
            peggedCurrencies: ["USD"],
            contract: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
          },
        ],
      });
      expect(networks[0]).to.include({ isTest: true });
      expect(answer.text).not.to.match(/rpc|secret|http/i);

      const headers = { "If-None-Match": answer.headers.get("ETag") ?? "" };
      expect((await app.request("GET", "/v1/networks", { token, headers })).status).to.equal(304);
      await expectStatus(app.request("GET", "/v1/networks"), 401);
    });

    it("offer no token that the watcher has disabled", async () => {
      const { app } = served;
      const { key } = await approvedMerchant(app);
      const tokens = async () => {
        const answer = await expectStatus(app.request("GET", "/v1/networks", { key }), 200);
        const [sandbox] = answer.body["data"] as { tokens: { symbol: string }[] }[];
        return sandbox?.tokens.map(({ symbol }) => symbol) ?? [];
      };
      const all = await tokens();
      expect(all).to.include("USDT");
      const disable = (disabled: readonly string[]) =>
        app.app.db.write(testContext, (tx) =>
          tx.run(
            `INSERT INTO network_states (network, chain_id, cursor_height, cursor_hash, tip_height, tip_hash,
              tip_time, head_height, scanned_at, disabled_tokens, version)
             VALUES ('sandbox', 1, 1, 'a', 1, 'a', 1, 1, 1, $1, 1)
             ON CONFLICT (network) DO UPDATE SET disabled_tokens = excluded.disabled_tokens`,
            [JSON.stringify(disabled)],
          ),
        );
      await disable(["USDT"]);
      expect(await tokens()).to.deep.equal(all.filter((symbol) => symbol !== "USDT"));
      await disable([]);
      expect(await tokens()).to.deep.equal(all);
    });
  },
  {
    background: false,
    settings: {
      TILL_NETWORKS: "sandbox,tron",
      TILL_SANDBOX_MIXED: "1",
      TILL_TRON_CONFIRMATIONS: "7",
      TILL_TRON_RPC_URLS: secret,
    },
  },
);
