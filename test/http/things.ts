import type { TestApp, Person } from "../support/app.ts";
import { xpubs } from "../support/merchants.ts";

/** A merchant's objects for fuzzing: path parameter, and the path and body that create the object. */
const makings: readonly (readonly [name: string, path: string, body: object])[] = [
  ["customerId", "/customers", { name: "Customer" }],
  ["walletId", "/wallets", { label: "Wallet", network: "sandbox", xpub: xpubs.first }],
  [
    "invoiceId",
    "/invoices",
    {
      amount: "25.00",
      settlementCurrency: "USD",
      tokenSymbol: "USDT",
      network: "sandbox",
      draft: true,
    },
  ],
  [
    "paymentLinkId",
    "/payment-links",
    { settlementCurrency: "USD", tokenSymbol: "USDT", network: "sandbox" },
  ],
  ["webhookEndpointId", "/webhook-endpoints", { url: "http://127.0.0.1:9/" }],
  ["apiKeyId", "/api-keys", { name: "Key", scopes: ["read"] }],
  ["invitationId", "/invitations", { email: "invited@example.com", role: "viewer" }],
];

/** The settings under which all of them can be made. */
export const settingsForThings = { TILL_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8" };

/** Makes one of everything through the API, and gives the ids by the names of path parameters. */
export async function makeThings(app: TestApp, owner: Person): Promise<Record<string, string>> {
  const ids: Record<string, string> = {
    organizationId: owner.organizationId,
    network: "sandbox",
  };
  for (const [name, path, body] of makings) {
    const answer = await app.request("POST", `/v1/organizations/${owner.organizationId}${path}`, {
      token: owner.token,
      body,
    });
    if (answer.status !== 201) throw new Error(`${path} answered ${answer.text}`);
    const made = (answer.body["invitation"] ?? answer.body) as { readonly id: string };
    ids[name] = made.id;
  }
  return ids;
}
