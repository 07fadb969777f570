// A shop on the client that openapi-typescript and openapi-fetch make. It reads events, oldest first.
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.ts";

type Invoice = components["schemas"]["Invoice"];

export function openShop(options: { apiBase: string; apiKey: string; organizationId: string }) {
  const client = createClient<paths>({
    baseUrl: options.apiBase,
    headers: { "X-Service-Key": options.apiKey },
  });
  const path = { organizationId: options.organizationId };
  const orders = new Map<string, string>();
  let after: string | undefined;

  return {
    orders,
    async order(name: string, amount: string): Promise<Invoice> {
      const { data, error } = await client.POST("/organizations/{organizationId}/invoices", {
        params: { path, header: { "Idempotency-Key": `order ${name}` } },
        body: {
          amount,
          settlementCurrency: "USD",
          tokenSymbol: "USDT",
          network: "sandbox",
          externalId: name,
        },
      });
      if (error?.code === "organization_not_verified")
        throw new Error("ask the operator to approve the shop");
      if (error !== undefined) throw new Error(`${error.code}: ${error.detail}`);
      orders.set(name, "waits for payment");
      return data;
    },
    async work(): Promise<void> {
      const { data, error } = await client.GET("/organizations/{organizationId}/events", {
        params: { path, query: { limit: 10, ...(after === undefined ? {} : { after }) } },
      });
      if (error !== undefined) throw new Error(`${error.code}: ${error.detail}`);
      for (const event of data.data) {
        const { externalId, exception } = event.data;
        if (typeof externalId !== "string") continue;
        if (event.type === "invoice.paid") orders.set(externalId, "shipped");
        if (event.type === "invoice.partially_paid") orders.set(externalId, "asked for the rest");
        if (event.type === "invoice.expired")
          orders.set(externalId, exception === "underpaid" ? "refund what came" : "given up");
      }
      after = data.nextCursor;
    },
  };
}
