import { expect } from "chai";
import { allOperations } from "../../src/features/index.ts";
import { createIds, type IdKind } from "../../src/kernel/id.ts";
import { systemRandom } from "../../src/platform/secrets/tokens.ts";
import {
  approvedMerchant,
  eachServed,
  platformAdmin,
  type Merchant,
  type Person,
} from "../support/app.ts";
import { countRows } from "../support/store/dump.ts";
import { withoutRequest } from "./problem.ts";
import { makeThings, settingsForThings } from "./things.ts";

const ofOrganization = "/organizations/{organizationId}";
/** Whatever gives an organization's objects page by page. */
const lists = allOperations.filter(
  ({ method, path, query }) =>
    method === "GET" &&
    path.startsWith(`${ofOrganization}/`) &&
    !path.slice(ofOrganization.length).includes("{") &&
    (query["cursor"] ?? query["after"]) !== undefined,
);

type Item = Readonly<Record<string, unknown>>;

const ids = createIds(systemRandom);
const unknown = (kind: IdKind) => ids.next(kind, Date.now());
const draft = {
  amount: "25.00",
  settlementCurrency: "USD",
  tokenSymbol: "USDT",
  network: "sandbox",
  draft: true,
};

eachServed(
  "another organization's ids",
  (served) => {
    let admin: Person;
    let merchant: Merchant;
    let stranger: Merchant;
    let things: Record<string, string>;
    let home: string;

    before(async () => {
      admin = await platformAdmin(served.app);
      merchant = await approvedMerchant(served.app);
      stranger = await approvedMerchant(served.app);
      things = await makeThings(served.app, merchant);
      home = stranger.path;
    });

    const asStranger = (method: string, path: string, body?: object) =>
      served.app.request(method, home + path, {
        key: stranger.key,
        ...(body === undefined ? {} : { body }),
      });
    const listed = async (path: string) => {
      const answer = await asStranger("GET", path);
      return { status: answer.status, data: answer.body["data"] as readonly Item[] | undefined };
    };

    it("in a body are treated like unknown ids and link nothing", async () => {
      const { app } = served;
      const own = await asStranger("POST", "/invoices", draft);
      expect(own.status, own.text).to.equal(201);
      for (const [name, kind] of [
        ["customerId", "customer"],
        ["walletId", "wallet"],
      ] as const) {
        for (const [method, path, rest] of [
          ["POST", "/invoices", draft],
          ["PATCH", `/invoices/${own.body["id"] as string}`, {}],
        ] as const) {
          const foreign = await asStranger(method, path, { ...rest, [name]: things[name] });
          const nothing = await asStranger(method, path, { ...rest, [name]: unknown(kind) });
          expect(foreign.status, `${method} ${name}`).to.be.within(400, 422);
          expect(withoutRequest(foreign)).to.deep.equal(withoutRequest(nothing));
        }
      }
      const where =
        "WHERE organization_id = $1 AND (customer_id IS NOT NULL OR wallet_id IS NOT NULL)";
      expect(await countRows(app.app.db, "invoices", where, [stranger.organizationId])).to.equal(0);
    });

    it("in filters find nothing", async () => {
      for (const [path, name, kind] of [
        ["/invoices", "customerId", "customer"],
        ["/payments", "invoiceId", "invoice"],
        ["/webhook-deliveries", "webhookEndpointId", "webhookEndpoint"],
      ] as const) {
        const foreign = await listed(`${path}?${name}=${things[name] ?? ""}`);
        const nothing = await listed(`${path}?${name}=${unknown(kind)}`);
        expect(foreign, path).to.deep.equal(nothing);
      }
    });

    it("appear in no list, and cursors of another organization are refused", async () => {
      const { app } = served;
      expect(lists.map(({ id }) => id)).to.include.members(["listTransfers", "listEvents"]);
      for (const { path: declared, query } of lists) {
        const path = declared.slice(ofOrganization.length);
        const place = query["cursor"] === undefined ? "after" : "cursor";
        const answer = await asStranger("GET", `${path}?limit=100`);
        expect(answer.status, path).to.equal(200);
        // Both organizations have the same network.
        const { network: _, ...theirThings } = things;
        for (const id of [...Object.values(theirThings), merchant.userId, merchant.email]) {
          expect(answer.text.includes(id), `${path} shows ${id}`).to.equal(false);
        }
        const theirs = await app.request(
          "GET",
          `/v1/organizations/${merchant.organizationId}${path}?limit=1`,
          {
            key: merchant.key,
          },
        );
        const cursor = theirs.body["nextCursor"] as string | null;
        if (cursor === null) continue;
        const opened = await asStranger("GET", `${path}?${place}=${encodeURIComponent(cursor)}`);
        expect(opened.status, path).to.equal(400);
      }
    });

    it("are matched exactly in the platform's search", async () => {
      const search = async (text: string) => {
        const answer = await served.app.request(
          "GET",
          `/v1/admin/organizations?search=${encodeURIComponent(text)}`,
          { token: admin.token },
        );
        expect(answer.status, text).to.equal(200);
        return (answer.body["data"] as readonly Item[]).map(({ id }) => id);
      };
      for (const pattern of ["%", "_", "%%", "a%d", "\\", "[a-z]", "''", "* OR 1=1"]) {
        expect(await search(pattern), pattern).to.deep.equal([]);
      }
      await served.app.request("PATCH", home, { key: stranger.key, body: { name: "100%_sure\\" } });
      for (const part of ["%", "_", "0%_S", "sure\\"]) {
        expect(await search(part), part).to.deep.equal([stranger.organizationId]);
      }
    });
  },
  { settings: settingsForThings, background: false },
);
